#include "storage/table_deadlines.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace satchel::storage {
namespace {

constexpr const char* kFirst = "satchel.first_deadline";
constexpr const char* kMedian = "satchel.median_deadline";
constexpr const char* kWritten = "satchel.cutoff_at_write";

/// How long a dead key-value record may stay in a file that is mostly alive: a
/// day.
constexpr std::uint64_t kPatience = 24ull * 3600 * 1'000'000;

class Collector final : public rocksdb::TablePropertiesCollector {
 public:
  Collector(Family family, std::uint64_t cutoff)
      : family_(family), cutoff_(cutoff) {}

  const char* Name() const override { return "satchel.deadlines"; }

  rocksdb::Status AddUserKey(const rocksdb::Slice& key,
                             const rocksdb::Slice& value,
                             rocksdb::EntryType type, rocksdb::SequenceNumber,
                             std::uint64_t) override {
    if (type != rocksdb::kEntryPut) return rocksdb::Status::OK();
    const std::string_view k(key.data(), key.size());
    const std::string_view v(value.data(), value.size());
    std::uint64_t deadline = kNever;
    BaseKey base;
    if (family_ == Family::base && decode_base_key(k, &base)) {
      deadline = base.gc;
    } else if (family_ == Family::log) {
      if (!log_gc(k, v, &deadline)) deadline = kNever;
    } else if (family_ == Family::kv) {
      if (!kv_deadline(k, v, &deadline)) deadline = kNever;
    } else if (family_ == Family::request) {
      if (!request_deadline(k, v, &deadline)) deadline = kNever;
    }
    deadlines_.push_back(deadline);
    return rocksdb::Status::OK();
  }

  rocksdb::Status Finish(
      rocksdb::UserCollectedProperties* properties) override {
    if (deadlines_.empty()) return rocksdb::Status::OK();
    const auto middle =
        deadlines_.begin() + static_cast<std::ptrdiff_t>(deadlines_.size() / 2);
    std::nth_element(deadlines_.begin(), middle, deadlines_.end());
    (*properties)[kMedian] = encode_u64(*middle);
    if (family_ == Family::kv) {
      (*properties)[kFirst] =
          encode_u64(*std::min_element(deadlines_.begin(), deadlines_.end()));
    }
    (*properties)[kWritten] = encode_u64(cutoff_);
    return rocksdb::Status::OK();
  }

  rocksdb::UserCollectedProperties GetReadableProperties() const override {
    return {};
  }

 private:
  const Family family_;
  const std::uint64_t cutoff_;
  std::vector<std::uint64_t> deadlines_;
};

class CollectorFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  CollectorFactory(Family family, std::shared_ptr<const Cutoff> cutoff)
      : family_(family), cutoff_(std::move(cutoff)) {}

  const char* Name() const override { return "satchel.deadlines"; }

  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(
      Context context) override {
    // The filter does not run in a flush: nothing was dropped by any cutoff.
    const bool flushed = context.level_at_creation == 0;
    // RocksDB owns it.
    return new Collector(family_, flushed ? 0 : cutoff_->load());
  }

 private:
  const Family family_;
  const std::shared_ptr<const Cutoff> cutoff_;
};

/// A property of ours; kNever when it is missing or malformed.
std::uint64_t property(const rocksdb::TableProperties& properties,
                       const char* name) {
  const auto& all = properties.user_collected_properties;
  const auto it = all.find(name);
  return it != all.end() && it->second.size() == 8 ? decode_u64(it->second)
                                                   : kNever;
}

}  // namespace

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> deadline_collector(
    Family family, std::shared_ptr<const Cutoff> cutoff) {
  return std::make_shared<CollectorFactory>(family, std::move(cutoff));
}

bool worth_a_rewrite(const rocksdb::TableProperties& properties,
                     std::uint64_t cutoff) {
  const auto written = property(properties, kWritten);
  const auto dead_since = [&](const char* which, std::uint64_t time) {
    const auto deadline = property(properties, which);
    return deadline <= time && deadline > written;
  };
  return dead_since(kMedian, cutoff) ||
         dead_since(kFirst, cutoff < kPatience ? 0 : cutoff - kPatience);
}

}  // namespace satchel::storage
