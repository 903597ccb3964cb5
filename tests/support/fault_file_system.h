#pragma once
// A file system that fails on command and that can lose what was not synced.
// Wraps a real one; give it to a store as its file system.

#include <rocksdb/file_system.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace satchel::test {

class FaultFileSystem : public rocksdb::FileSystemWrapper {
 public:
  enum class Fault : std::uint8_t { io_error, no_space };
  enum class Extent : std::uint8_t {
    once,         // the nth operation alone
    from_now_on,  // it and all that follow: a process or a disk that died
  };
  enum class Drop : std::uint8_t {
    all,     // of each file everything behind its last sync
    random,  // of each file a random part of that
  };

  explicit FaultFileSystem(std::shared_ptr<rocksdb::FileSystem> base =
                               rocksdb::FileSystem::Default());

  /// Operations that change the disk, since the start or the last fail_at():
  /// create, append, truncate, sync, rename, link, delete, make or remove a
  /// folder, sync a folder. Reads are not counted and never fail.
  std::uint64_t operations() const { return operations_; }

  /// The nth operation from now on (from 1) fails. A failing append writes
  /// half of its bytes.
  void fail_at(std::uint64_t n, Fault fault, Extent extent);
  /// No operation fails any more.
  void heal();
  /// Whether the fault of fail_at() has struck.
  bool struck() const { return struck_; }

  /// What a power cut may leave: each file that was written through this file
  /// system is cut, independently of the others, to a length between its last
  /// sync and now; a file or a rename whose folder was not synced since may be
  /// undone. Deletes are not undone. Call it when nothing is open. Returns how
  /// many bytes, files and renames were lost.
  std::uint64_t drop_unsynced(Drop mode, std::uint64_t seed);

  const char* Name() const override { return "SatchelFault"; }
  rocksdb::IOStatus NewWritableFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* file,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* file,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(
      const std::string& name, const std::string& old_name,
      const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* file,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomRWFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSRandomRWFile>* file,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& name,
                                 const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* folder,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus Truncate(const std::string& name, std::size_t size,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDir(const std::string& name,
                              const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDirIfMissing(const std::string& name,
                                       const rocksdb::IOOptions& options,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteDir(const std::string& name,
                              const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LockFile(const std::string& name,
                             const rocksdb::IOOptions& options,
                             rocksdb::FileLock** lock,
                             rocksdb::IODebugContext* debug) override;

 private:
  class File;
  class Folder;
  struct Length {
    std::uint64_t now = 0;
    std::uint64_t synced = 0;
    bool entry_synced = false;  // the folder was synced since the creation
  };
  struct Rename {
    std::string from;
    std::string to;
    bool replaced = false;
    std::string replaced_content;
    Length replaced_length;
  };

  rocksdb::IOStatus operation();
  rocksdb::IOStatus failure() const;
  void created(const std::string& name);
  void appended(const std::string& name, std::uint64_t size);
  std::uint64_t length(const std::string& name);
  void synced(const std::string& name, std::uint64_t size);
  void truncated(const std::string& name, std::uint64_t size);
  void folder_synced(const std::string& folder);
  std::uint64_t undo_renames(Drop mode, std::uint64_t& seed);

  std::atomic<std::uint64_t> operations_{0};
  std::atomic<std::uint64_t> fail_at_{0};  // 0: never
  std::atomic<Fault> fault_{Fault::io_error};
  std::atomic<Extent> extent_{Extent::once};
  std::atomic<bool> struck_{false};
  std::mutex mutex_;
  std::map<std::string, Length> files_;
  std::vector<Rename> renames_;
};

}  // namespace satchel::test
