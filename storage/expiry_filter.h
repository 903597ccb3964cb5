#pragma once
// Compaction filters that drop what is dead for good. They decide by the
// deadline inside the record they see and the persisted cutoff, never by the
// clock and never by another record, so that a handle cannot be torn apart.
// They keep whatever they cannot verify.

#include <rocksdb/compaction_filter.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "storage/format.h"

namespace satchel::storage {

/// Everything whose gc or deadline is at or before this is dead. Only rises.
using Cutoff = std::atomic<std::uint64_t>;

/// The filter for `family`; null for meta. head, kv and request are removed
/// with kRemove (their keys are overwritten and Deleted), base and log with
/// kPurge (written once and SingleDeleted): RocksDB allows no mixture.
std::shared_ptr<rocksdb::CompactionFilterFactory> expiry_filter(
    Family family, std::shared_ptr<const Cutoff> cutoff);

}  // namespace satchel::storage
