#include "storage/expiry_filter.h"

#include <string>
#include <string_view>
#include <utility>

namespace satchel::storage {
namespace {

std::string_view view(const rocksdb::Slice& s) { return {s.data(), s.size()}; }

class ExpiryFilter final : public rocksdb::CompactionFilter {
 public:
  ExpiryFilter(Family family, std::uint64_t cutoff)
      : family_(family), cutoff_(cutoff) {}

  const char* Name() const override { return "satchel.expiry"; }

  /// The filter decides by deadline, not by visibility: a snapshot does not
  /// keep the dead, readers cope (version_log.h).
  bool IgnoreSnapshots() const override { return true; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType type,
                    const rocksdb::Slice& value, std::string*,
                    std::string*) const override {
    if (type != ValueType::kValue) return Decision::kKeep;
    switch (family_) {
      case Family::head:
        // A head that is still live belongs to the sweep, which also removes
        // what it points to; only tombstones go by themselves.
        return cutoff_ >= kHorizon &&
                       is_tombstone_before(view(key), view(value),
                                           cutoff_ - kHorizon)
                   ? Decision::kRemove
                   : Decision::kKeep;
      case Family::base: {
        BaseKey base;
        return decode_base_key(view(key), &base) && base.gc <= cutoff_
                   ? Decision::kPurge
                   : Decision::kKeep;
      }
      case Family::log: {
        std::uint64_t gc;
        return log_gc(view(key), view(value), &gc) && gc <= cutoff_
                   ? Decision::kPurge
                   : Decision::kKeep;
      }
      case Family::kv: {
        std::uint64_t deadline;
        return kv_deadline(view(key), view(value), &deadline) &&
                       deadline <= cutoff_
                   ? Decision::kRemove
                   : Decision::kKeep;
      }
      case Family::request: {
        std::uint64_t deadline;
        return request_deadline(view(key), view(value), &deadline) &&
                       deadline <= cutoff_
                   ? Decision::kRemove
                   : Decision::kKeep;
      }
      case Family::meta:
        break;
    }
    return Decision::kKeep;
  }

 private:
  const Family family_;
  /// Taken once: one compaction goes by one cutoff.
  const std::uint64_t cutoff_;
};

class ExpiryFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  ExpiryFilterFactory(Family family, std::shared_ptr<const Cutoff> cutoff)
      : family_(family), cutoff_(std::move(cutoff)) {}

  const char* Name() const override { return "satchel.expiry"; }

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<ExpiryFilter>(family_, cutoff_->load());
  }

 private:
  const Family family_;
  const std::shared_ptr<const Cutoff> cutoff_;
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> expiry_filter(
    Family family, std::shared_ptr<const Cutoff> cutoff) {
  if (family == Family::meta) return nullptr;
  return std::make_shared<ExpiryFilterFactory>(family, std::move(cutoff));
}

}  // namespace satchel::storage
