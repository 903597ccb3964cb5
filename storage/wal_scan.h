#pragma once
// A read-only check of the write-ahead log before RocksDB opens it
// (FORMAT.md, "The log"). RocksDB's own recovery modes either lose
// acknowledged records silently or refuse an ordinary torn tail.
// Names RocksDB types: included by storage/ and by tests only.

#include <rocksdb/file_system.h>

#include <cstdint>
#include <optional>
#include <string>

namespace satchel::storage {

/// Records are missing before the end of the log.
struct WalGap {
  enum class Reason : std::uint8_t {
    bad_bytes,  // bytes that do not verify, and a record after them
    jump,       // all verifies, but sequence numbers are missing
    backwards,  // all verifies, but a sequence number comes again
  };
  Reason reason = Reason::bad_bytes;
  std::uint64_t wal = 0;     // number of the file where the good part ends
  std::uint64_t offset = 0;  // end of the good part in it
  std::uint64_t expected_sequence = 0;  // what should come next
  std::uint64_t next_wal = 0;           // where the record after the gap is
  std::uint64_t next_offset = 0;
  std::uint64_t found_sequence = 0;  // its number; 0 when it cannot be told
};

struct WalReport {
  std::uint64_t wal_files = 0;  // that RocksDB would replay; 0: caller decides
  std::uint64_t obsolete_wal_files = 0;  // that it no longer needs: not read
  std::uint64_t bytes = 0;               // read
  std::uint64_t records = 0;             // good ones before the gap or the end
  std::uint64_t last_sequence = 0;       // of them; 0: no record
  /// A torn tail: bytes at the very end that are no record. RocksDB drops
  /// them (open with kPointInTimeRecovery; the tolerant mode refuses some).
  /// With a gap: all bytes behind it.
  std::uint64_t dropped_bytes = 0;
  /// Zeros after the last record: a clean end, as RocksDB sees it too.
  std::uint64_t zero_bytes = 0;
  std::optional<WalGap> gap;
  /// A file went away while it was read: there is a writer beside; scan again.
  bool vanished = false;
  /// The MANIFEST names no table, no family but the default one and no write:
  /// RocksDB was interrupted while it created the store, and wal_files may
  /// rightly be 0.
  bool fresh = false;
};

/// Reads the live *.log files of `folder` in the order of their numbers; which
/// are live, the MANIFEST tells. Changes nothing; safe beside a writer (the
/// end of its log may then count as dropped bytes).
/// Throws Failure: io, no_permission. Damage is reported, not thrown.
WalReport scan_wals(rocksdb::FileSystem& fs, const std::string& folder);

}  // namespace satchel::storage
