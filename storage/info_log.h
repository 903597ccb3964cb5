#pragma once
// Where RocksDB's messages go. Names RocksDB types: included by storage/ and
// by tests only.

#include <rocksdb/env.h>

#include <cstddef>
#include <memory>
#include <string>

namespace satchel::storage {

inline constexpr std::size_t info_log_cap = 256 * 1024;

/// The log of a writer: warnings and errors, appended to the file LOG (0600)
/// in `folder`, which is made with the first message. A LOG that would grow
/// beyond `cap` becomes LOG.old. It holds no keys: RocksDB prints key ranges
/// below the level of a warning only, and longer runs of hex digits (how it
/// prints a key) are blanked. A message that cannot be written is dropped.
std::shared_ptr<rocksdb::Logger> make_info_log(const std::string& folder,
                                               std::size_t cap = info_log_cap);

/// Drops everything: for read-only opens and in-memory stores.
std::shared_ptr<rocksdb::Logger> make_null_log();

}  // namespace satchel::storage
