#include "storage/file_system.h"

#include <sys/stat.h>

#include <cstring>
#include <string>
#include <utility>

namespace satchel::storage {

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class PrivateFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit PrivateFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base)
      : FileSystemWrapper(base) {}

  const char* Name() const override { return "SatchelPrivate"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    return then_file(target()->NewWritableFile(name, options, file, debug),
                     name, file);
  }
  IOStatus ReopenWritableFile(const std::string& name,
                              const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* debug) override {
    return then_file(target()->ReopenWritableFile(name, options, file, debug),
                     name, file);
  }
  IOStatus ReuseWritableFile(const std::string& name,
                             const std::string& old_name,
                             const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                             IODebugContext* debug) override {
    return then_file(
        target()->ReuseWritableFile(name, old_name, options, file, debug), name,
        file);
  }
  IOStatus NewRandomRWFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* file,
                           IODebugContext* debug) override {
    return then_file(target()->NewRandomRWFile(name, options, file, debug),
                     name, file);
  }
  IOStatus NewLogger(const std::string& name, const IOOptions& options,
                     std::shared_ptr<rocksdb::Logger>* logger,
                     IODebugContext* debug) override {
    return then_file(target()->NewLogger(name, options, logger, debug), name,
                     logger);
  }
  IOStatus LockFile(const std::string& name, const IOOptions& options,
                    rocksdb::FileLock** lock, IODebugContext* debug) override {
    const auto status = target()->LockFile(name, options, lock, debug);
    // A LOCK that keeps a wider mode holds nothing to read.
    if (status.ok()) ::chmod(name.c_str(), 0600);
    return status;
  }
  IOStatus CreateDir(const std::string& name, const IOOptions& options,
                     IODebugContext* debug) override {
    const auto status = target()->CreateDir(name, options, debug);
    return status.ok() ? narrow(name, 0700) : status;
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& options,
                              IODebugContext* debug) override {
    struct stat before {};
    const bool existed = ::stat(name.c_str(), &before) == 0;
    const auto status = target()->CreateDirIfMissing(name, options, debug);
    return status.ok() && !existed ? narrow(name, 0700) : status;
  }

 private:
  static IOStatus narrow(const std::string& name, mode_t mode) {
    if (::chmod(name.c_str(), mode) == 0) return IOStatus::OK();
    const int error = errno;
    return IOStatus::IOError("cannot restrict the mode of " + name,
                             std::strerror(error));
  }
  template <class File>
  static IOStatus then_file(const IOStatus& status, const std::string& name,
                            File* file) {
    if (!status.ok()) return status;
    auto narrowed = narrow(name, 0600);
    if (!narrowed.ok()) file->reset();
    return narrowed;
  }
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> private_file_system(
    std::shared_ptr<rocksdb::FileSystem> base, Backing backing) {
  if (backing == Backing::in_memory) return base;
  return std::make_shared<PrivateFileSystem>(base);
}

}  // namespace satchel::storage
