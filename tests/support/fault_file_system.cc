#include "tests/support/fault_file_system.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace satchel::test {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

/// Names of one file must compare equal: RocksDB writes "folder//name" too.
std::string plain(const std::string& name) {
  return std::filesystem::path(name).lexically_normal().string();
}

std::string folder_of(const std::string& name) {
  return std::filesystem::path(plain(name)).parent_path().string();
}

std::uint64_t next_random(std::uint64_t& seed) {
  seed += 0x9e3779b97f4a7c15U;
  std::uint64_t z = seed;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

class FaultFileSystem::File : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(FaultFileSystem& fs, std::string name,
       std::unique_ptr<rocksdb::FSWritableFile>&& base)
      : FSWritableFileOwnerWrapper(std::move(base)),
        fs_(fs),
        name_(plain(name)) {}

  IOStatus Append(const Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    const auto fault = fs_.operation();
    const Slice part(data.data(), fault.ok() ? data.size() : data.size() / 2);
    if (!fault.ok() && fs_.extent_ == Extent::from_now_on &&
        fs_.operations_ != fs_.fail_at_) {
      return fault;  // dead already
    }
    const auto done = target()->Append(part, options, debug);
    if (done.ok()) fs_.appended(name_, part.size());
    return fault.ok() ? done : fault;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    const auto fault = fs_.operation();
    if (!fault.ok()) return fault;
    const auto done = target()->Truncate(size, options, debug);
    if (done.ok()) fs_.truncated(name_, size);
    return done;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return sync([&] { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return sync([&] { return target()->Fsync(options, debug); });
  }

 private:
  template <class Call>
  IOStatus sync(const Call& call) {
    const auto fault = fs_.operation();
    if (!fault.ok()) return fault;
    const auto size = fs_.length(name_);
    const auto done = call();
    if (done.ok()) fs_.synced(name_, size);
    return done;
  }

  FaultFileSystem& fs_;
  const std::string name_;
};

class FaultFileSystem::Folder : public rocksdb::FSDirectoryWrapper {
 public:
  Folder(FaultFileSystem& fs, const std::string& name,
         std::unique_ptr<rocksdb::FSDirectory>&& base)
      : FSDirectoryWrapper(std::move(base)), fs_(fs), name_(plain(name)) {
    if (name_.size() > 1 && name_.back() == '/') name_.pop_back();
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    const auto fault = fs_.operation();
    if (!fault.ok()) return fault;
    const auto done = FSDirectoryWrapper::Fsync(options, debug);
    if (done.ok()) fs_.folder_synced(name_);
    return done;
  }
  // RocksDB's own may leave the sync out where btrfs allows it.
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions&) override {
    return Fsync(options, debug);
  }

 private:
  FaultFileSystem& fs_;
  std::string name_;
};

FaultFileSystem::FaultFileSystem(std::shared_ptr<rocksdb::FileSystem> base)
    : FileSystemWrapper(base) {}

void FaultFileSystem::fail_at(std::uint64_t n, Fault fault, Extent extent) {
  fault_ = fault;
  extent_ = extent;
  struck_ = false;
  operations_ = 0;
  fail_at_ = n;
}

void FaultFileSystem::heal() { fail_at_ = 0; }

IOStatus FaultFileSystem::failure() const {
  return fault_ == Fault::no_space ? IOStatus::NoSpace("injected")
                                   : IOStatus::IOError("injected");
}

IOStatus FaultFileSystem::operation() {
  const auto n = ++operations_;
  const std::uint64_t at = fail_at_;
  if (at == 0 || n < at) return IOStatus::OK();
  if (n > at && extent_ == Extent::once) return IOStatus::OK();
  struck_ = true;
  return failure();
}

void FaultFileSystem::created(const std::string& name) {
  const std::lock_guard lock(mutex_);
  files_[plain(name)] = {};
}

void FaultFileSystem::appended(const std::string& name, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  files_[name].now += size;
}

std::uint64_t FaultFileSystem::length(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return files_[name].now;
}

void FaultFileSystem::synced(const std::string& name, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  auto& length = files_[name];
  length.synced = std::max(length.synced, size);
}

void FaultFileSystem::truncated(const std::string& name, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  auto& length = files_[name];
  length.now = size;
  length.synced = std::min(length.synced, size);
}

void FaultFileSystem::folder_synced(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  for (auto& [name, length] : files_) {
    if (folder_of(name) == folder) length.entry_synced = true;
  }
  std::erase_if(renames_,
                [&](const Rename& r) { return folder_of(r.to) == folder; });
}

// The last rename first; one that stays, stays with all before it.
std::uint64_t FaultFileSystem::undo_renames(Drop mode, std::uint64_t& seed) {
  std::uint64_t lost = 0;
  while (!renames_.empty()) {
    if (mode == Drop::random && next_random(seed) % 2 == 0) break;
    const Rename rename = std::move(renames_.back());
    renames_.pop_back();
    ++lost;
    std::filesystem::rename(rename.to, rename.from);
    files_[rename.from] = files_[rename.to];
    files_.erase(rename.to);
    if (!rename.replaced) continue;
    rocksdb::WriteStringToFile(target(), rename.replaced_content, rename.to)
        .PermitUncheckedError();
    files_[rename.to] = rename.replaced_length;
  }
  renames_.clear();
  return lost;
}

std::uint64_t FaultFileSystem::drop_unsynced(Drop mode, std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  std::uint64_t lost = undo_renames(mode, seed);
  for (const auto& [name, length] : files_) {
    std::error_code missing;
    if (!std::filesystem::exists(name, missing)) continue;
    const bool gone = !length.entry_synced &&
                      (mode == Drop::all || next_random(seed) % 2 == 0);
    if (gone) {
      std::filesystem::remove(name);
      ++lost;
      continue;
    }
    const auto unsynced = length.now - length.synced;
    if (unsynced == 0) continue;
    const auto drop =
        mode == Drop::all ? unsynced : next_random(seed) % (unsynced + 1);
    std::filesystem::resize_file(name, length.now - drop);
    lost += drop;
  }
  files_.clear();
  return lost;
}

IOStatus FaultFileSystem::NewWritableFile(
    const std::string& name, const FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) {
  const auto fault = operation();
  if (!fault.ok()) return fault;
  auto status = target()->NewWritableFile(name, options, file, debug);
  if (!status.ok()) return status;
  created(name);
  *file = std::make_unique<File>(*this, name, std::move(*file));
  return status;
}

IOStatus FaultFileSystem::ReopenWritableFile(
    const std::string& name, const FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) {
  const auto fault = operation();
  if (!fault.ok()) return fault;
  auto status = target()->ReopenWritableFile(name, options, file, debug);
  if (!status.ok()) return status;
  {
    const std::lock_guard lock(mutex_);
    std::error_code missing;
    const auto size = std::filesystem::file_size(name, missing);
    // What was there before this file system looked counts as synced.
    if (!missing) files_.try_emplace(plain(name), Length{size, size, true});
  }
  *file = std::make_unique<File>(*this, name, std::move(*file));
  return status;
}

IOStatus FaultFileSystem::ReuseWritableFile(
    const std::string& name, const std::string& old_name,
    const FileOptions& options, std::unique_ptr<rocksdb::FSWritableFile>* file,
    IODebugContext* debug) {
  const auto renamed = RenameFile(old_name, name, options.io_options, debug);
  if (!renamed.ok()) return renamed;
  return NewWritableFile(name, options, file, debug);
}

IOStatus FaultFileSystem::NewRandomRWFile(
    const std::string& name, const FileOptions& options,
    std::unique_ptr<rocksdb::FSRandomRWFile>* file, IODebugContext* debug) {
  const auto fault = operation();
  if (!fault.ok()) return fault;
  return target()->NewRandomRWFile(name, options, file, debug);
}

IOStatus FaultFileSystem::NewDirectory(
    const std::string& name, const IOOptions& options,
    std::unique_ptr<rocksdb::FSDirectory>* folder, IODebugContext* debug) {
  auto status = target()->NewDirectory(name, options, folder, debug);
  if (!status.ok()) return status;
  *folder = std::make_unique<Folder>(*this, name, std::move(*folder));
  return status;
}

IOStatus FaultFileSystem::DeleteFile(const std::string& name,
                                     const IOOptions& options,
                                     IODebugContext* debug) {
  const auto fault = operation();
  if (!fault.ok()) return fault;
  const auto done = target()->DeleteFile(name, options, debug);
  const std::lock_guard lock(mutex_);
  if (done.ok()) files_.erase(plain(name));
  return done;
}

IOStatus FaultFileSystem::Truncate(const std::string& name, std::size_t size,
                                   const IOOptions& options,
                                   IODebugContext* debug) {
  const auto fault = operation();
  if (!fault.ok()) return fault;
  const auto done = target()->Truncate(name, size, options, debug);
  if (done.ok()) truncated(plain(name), size);
  return done;
}

IOStatus FaultFileSystem::CreateDir(const std::string& name,
                                    const IOOptions& options,
                                    IODebugContext* debug) {
  const auto fault = operation();
  return fault.ok() ? target()->CreateDir(name, options, debug) : fault;
}

IOStatus FaultFileSystem::CreateDirIfMissing(const std::string& name,
                                             const IOOptions& options,
                                             IODebugContext* debug) {
  const auto fault = operation();
  return fault.ok() ? target()->CreateDirIfMissing(name, options, debug)
                    : fault;
}

IOStatus FaultFileSystem::DeleteDir(const std::string& name,
                                    const IOOptions& options,
                                    IODebugContext* debug) {
  const auto fault = operation();
  return fault.ok() ? target()->DeleteDir(name, options, debug) : fault;
}

IOStatus FaultFileSystem::RenameFile(const std::string& from,
                                     const std::string& to,
                                     const IOOptions& options,
                                     IODebugContext* debug) {
  const auto fault = operation();
  if (!fault.ok()) return fault;
  Rename rename;
  rename.from = plain(from);
  rename.to = plain(to);
  rename.replaced =
      rocksdb::ReadFileToString(target(), to, &rename.replaced_content).ok();
  const auto done = target()->RenameFile(from, to, options, debug);
  if (!done.ok()) return done;
  const std::lock_guard lock(mutex_);
  const auto size = static_cast<std::uint64_t>(rename.replaced_content.size());
  rename.replaced_length = {size, size, true};
  const auto old = files_.find(rename.to);
  if (old != files_.end()) rename.replaced_length = old->second;
  const auto moved = files_.find(rename.from);
  if (moved != files_.end()) {
    // The rename carries the entry: undoing it is what loses the new name.
    files_[rename.to] = moved->second;
    files_[rename.to].entry_synced = true;
    files_.erase(rename.from);
  }
  renames_.push_back(std::move(rename));
  return done;
}

IOStatus FaultFileSystem::LinkFile(const std::string& from,
                                   const std::string& to,
                                   const IOOptions& options,
                                   IODebugContext* debug) {
  const auto fault = operation();
  if (!fault.ok()) return fault;
  const auto done = target()->LinkFile(from, to, options, debug);
  if (!done.ok()) return done;
  const std::lock_guard lock(mutex_);
  files_[plain(to)] = files_[plain(from)];
  files_[plain(to)].entry_synced = false;
  return done;
}

IOStatus FaultFileSystem::LockFile(const std::string& name,
                                   const IOOptions& options,
                                   rocksdb::FileLock** lock,
                                   IODebugContext* debug) {
  const auto fault = operation();
  return fault.ok() ? target()->LockFile(name, options, lock, debug) : fault;
}

}  // namespace satchel::test
