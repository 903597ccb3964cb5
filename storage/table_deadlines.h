#pragma once
// Table properties that tell when a file's records will be dead. For storage/
// only: names RocksDB types.

#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>

#include "storage/expiry_filter.h"
#include "storage/format.h"

namespace satchel::storage {

/// Records the median deadline of `family`'s records in each new file, for
/// key-value records the first one too, beside the cutoff that the file was
/// filtered by.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> deadline_collector(
    Family family, std::shared_ptr<const Cutoff> cutoff);

/// Whether at least half of the file is dead by `cutoff`, or a key-value record
/// has been for a day; and was not already when the file was written (then a
/// rewrite would not help).
bool worth_a_rewrite(const rocksdb::TableProperties& properties,
                     std::uint64_t cutoff);

}  // namespace satchel::storage
