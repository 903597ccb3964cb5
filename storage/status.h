#pragma once
// The one place where a rocksdb::Status becomes a Failure.

#include <rocksdb/status.h>

namespace satchel::storage {

/// Throws the Failure that `status` stands for. `operation` says in words what
/// was done ("write", "open the store"). RocksDB's own text is left out: it
/// names paths and keys.
[[noreturn]] void raise(const rocksdb::Status& status, const char* operation);

/// raise() unless ok.
inline void check(const rocksdb::Status& status, const char* operation) {
  if (!status.ok()) raise(status, operation);
}

}  // namespace satchel::storage
