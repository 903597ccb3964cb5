#pragma once
// One writer a store: an exclusive lock on the file SATCHEL itself.

#include <chrono>
#include <string>

namespace satchel::storage {

/// Held from acquire() until destruction or the end of the process, SIGKILL
/// included. It goes by the identity of the file: a second acquire() through
/// any alias of the folder (symbolic link, `..`, bind mount) conflicts, in the
/// same process too. A child of fork() that does not exec shares the lock.
class FolderLock {
 public:
  /// Waits up to `wait` while another holds the lock (0: tries once).
  /// Throws Failure: locked, with the pid of the owner where it can be told
  /// (else 0) and nothing changed in the folder; no_permission; not_a_store
  /// when there is no SATCHEL; io.
  /// Changes nothing in the folder.
  static FolderLock acquire(const std::string& path,
                            std::chrono::milliseconds wait);
  /// Names this process as the owner of `path` to those who find it locked.
  void announce(const std::string& path) const;

  FolderLock() = default;  // holds nothing
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

  bool held() const { return fd_ >= 0; }
  /// Gives the lock up; held() is false from here on.
  void release() noexcept;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace satchel::storage
