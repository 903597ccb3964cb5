#include "satchel/options.h"

#include <string>
#include <utility>

namespace satchel {
namespace {

using namespace std::chrono_literals;

/// Collects the names of fields that are out of their range.
class Check {
 public:
  template <class T>
  void range(const char* field, const T& value, const T& low, const T& high,
             const char* rule) {
    if (value >= low && value <= high) return;
    wrong_ +=
        (wrong_.empty() ? "" : ", ") + std::string(field) + " (" + rule + ")";
  }

  Result<void> result() && {
    if (wrong_.empty()) return {};
    return Error(ErrorCode::invalid_input,
                 "these options are out of their range: " + wrong_,
                 {{"field", "store"}});
  }

 private:
  std::string wrong_;
};

}  // namespace

Result<void> Options::validate() const {
  Check check;
  check.range("durability", static_cast<int>(durability), 0, 2,
              "sync, interval or os");
  check.range<std::chrono::milliseconds>("sync_interval", sync_interval, 1ms,
                                         1h, "1 ms to 1 h");
  check.range<std::size_t>("identity", identity.size(), 0, 64,
                           "at most 64 bytes");
  check.range<std::size_t>("max_state_bytes", max_state_bytes, 2,
                           std::size_t{1} << 30, "2 to 1 GiB");
  check.range<std::uint32_t>("max_handles_per_user", max_handles_per_user, 1,
                             1'000'000, "1 to 1,000,000");
  check.range<std::uint32_t>("history_versions", history_versions, 1, 1000,
                             "1 to 1,000");
  check.range<std::size_t>("history_bytes", history_bytes, 0,
                           std::size_t{1} << 40, "0 to 1 TiB");
  check.range<std::chrono::seconds>("request_window", request_window, 1s, 720h,
                                    "1 s to 30 days");
  check.range<std::uint32_t>("max_request_ids_per_user",
                             max_request_ids_per_user, 1, 1'000'000,
                             "1 to 1,000,000");
  check.range<std::size_t>("kv_max_scope_bytes", kv_max_scope_bytes, 64,
                           std::size_t{1} << 30, "64 to 1 GiB");
  check.range<std::size_t>("kv_max_value_bytes", kv_max_value_bytes, 32,
                           std::size_t{16} << 20, "32 to 16 MiB");
  check.range<std::size_t>("kv_max_key_bytes", kv_max_key_bytes, 1, 8192,
                           "1 to 8 KiB");
  check.range<std::chrono::milliseconds>("kv_max_ttl", kv_max_ttl, 1ms,
                                         24h * 36'500, "1 ms to 36,500 days");
  check.range<std::chrono::milliseconds>("contention_time", contention_time,
                                         0ms, 10min, "0 to 10 min");
  check.range<std::chrono::milliseconds>("lock_wait", lock_wait, 0ms, 10min,
                                         "0 to 10 min");
  check.range<std::size_t>("cache_bytes", cache_bytes, 0, std::size_t{1} << 40,
                           "0 to 1 TiB");
  check.range<std::size_t>("index_bytes", index_bytes, 0, std::size_t{1} << 40,
                           "0 to 1 TiB");
  check.range<std::chrono::seconds>("sweep_interval", sweep_interval, 1s, 24h,
                                    "1 s to 1 day");
  check.range("workers", workers, 1, 256, "1 to 256");
  return std::move(check).result();
}

}  // namespace satchel
