#pragma once
// The file system that a store works through. Names RocksDB types: included
// by storage/ and by tests only.

#include <rocksdb/file_system.h>

#include <memory>

namespace satchel::storage {

/// Lets callers that may not name RocksDB's types hand a file system through.
struct FileSystemHandle {
  std::shared_ptr<rocksdb::FileSystem> fs;
};

/// `on_disk`: paths are paths of the operating system. `in_memory`: they are
/// not, and no mode is ever set.
enum class Backing : bool { on_disk, in_memory };

/// A file system over `base` in which every file it creates has mode 0600 and
/// every folder 0700, whatever the umask. What existed before keeps its mode
/// (see tighten_permissions), except a file that is opened for writing again.
std::shared_ptr<rocksdb::FileSystem> private_file_system(
    std::shared_ptr<rocksdb::FileSystem> base,
    Backing backing = Backing::on_disk);

}  // namespace satchel::storage
