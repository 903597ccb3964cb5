// Getting rid of what is dead: how Database finds files that are worth a
// rewrite, and the rewrite.

#include <rocksdb/table_properties.h>

#include <algorithm>
#include <string>
#include <vector>

#include "storage/database.h"
#include "storage/database_impl.h"
#include "storage/status.h"
#include "storage/table_deadlines.h"

namespace satchel::storage {
namespace {

rocksdb::CompactRangeOptions rewrite_options() {
  rocksdb::CompactRangeOptions options;
  // Also at the bottom level, or the filter would not see what lies there.
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForceOptimized;
  return options;
}

struct KeyRange {
  std::string smallest;
  std::string largest;
};

/// The key ranges of files at least half of whose records are deletions, or
/// dead enough by `cutoff`.
std::vector<KeyRange> dead_ranges(rocksdb::DB* db,
                                  rocksdb::ColumnFamilyHandle* family,
                                  std::uint64_t cutoff) {
  rocksdb::ColumnFamilyMetaData files;
  db->GetColumnFamilyMetaData(family, &files);
  rocksdb::TablePropertiesCollection properties;
  check(db->GetPropertiesOfAllTables(family, &properties), "read");
  std::vector<KeyRange> ranges;
  for (const auto& level : files.levels) {
    for (const auto& file : level.files) {
      const bool deletions =
          file.num_entries > 0 && file.num_deletions * 2 >= file.num_entries;
      const auto table = properties.find(file.db_path + file.name);
      const bool expired =
          table != properties.end() && worth_a_rewrite(*table->second, cutoff);
      if (deletions || expired) {
        ranges.push_back({file.smallestkey, file.largestkey});
      }
    }
  }
  return ranges;
}

/// Each open writes what it finds in the log as a file of level 0; bigger ones
/// are left to RocksDB, which waits for four.
constexpr std::uint64_t kSmallFile = std::uint64_t{256} << 10;

std::vector<std::string> small_files(rocksdb::DB* db,
                                     rocksdb::ColumnFamilyHandle* family) {
  rocksdb::ColumnFamilyMetaData files;
  db->GetColumnFamilyMetaData(family, &files);
  std::vector<std::string> names;
  for (const auto& file : files.levels.front().files) {
    // Newest first; only neighbours in time may be merged.
    if (file.size > kSmallFile || file.being_compacted) break;
    names.push_back(file.name);
  }
  return names;
}

}  // namespace

void Database::merge_small_files() {
  impl_->require_writable();
  for (const auto family : Families::kAll) {
    auto* handle = impl_->families[family];
    const auto names = small_files(impl_->db.get(), handle);
    if (names.size() < 2) continue;
    const auto status = impl_->db->CompactFiles({}, handle, names, 0);
    // RocksDB may have taken one of them up meanwhile.
    if (!status.IsAborted() && !status.IsInvalidArgument()) {
      check(status, "compact");
    }
  }
}

void Database::stop_compacting() { impl_->stopping = true; }

void Database::compact_dead() {
  impl_->require_writable();
  if (impl_->first_unflushed_kv.load() <= impl_->cutoff->load()) {
    // Before the flush: what is put meanwhile counts for the next one.
    impl_->first_unflushed_kv = kNever;
    flush();
  }
  auto options = rewrite_options();
  options.canceled = &impl_->stopping;
  for (const auto family : Families::kAll) {
    if (family == Family::meta) continue;
    auto* handle = impl_->families[family];
    for (const auto& range :
         dead_ranges(impl_->db.get(), handle, impl_->cutoff->load())) {
      const rocksdb::Slice from = range.smallest;
      const rocksdb::Slice to = range.largest;
      const auto status = impl_->db->CompactRange(options, handle, &from, &to);
      if (impl_->stopping) return;
      check(status, "compact");
    }
  }
}

void Database::compact_all() {
  impl_->require_writable();
  flush();
  for (const auto family : Families::kAll) {
    check(impl_->db->CompactRange(rewrite_options(), impl_->families[family],
                                  nullptr, nullptr),
          "compact");
  }
}

}  // namespace satchel::storage
