#pragma once
// The few facts of RocksDB's MANIFEST that the scan of the WAL needs.
// Names RocksDB types: included by storage/ and by tests only.

#include <rocksdb/file_system.h>

#include <cstdint>
#include <string>

namespace satchel::storage {

struct ManifestFacts {
  /// Files of the WAL with a lower number are not replayed. 0 when the
  /// MANIFEST cannot be read: then all count, and RocksDB will refuse it.
  std::uint64_t first_live_wal = 0;
  /// As WalReport::fresh.
  bool fresh = false;
};

/// Changes nothing; never throws for damage, which is RocksDB's to report.
ManifestFacts scan_manifest(rocksdb::FileSystem& fs, const std::string& folder);

}  // namespace satchel::storage
