#include "storage/lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "storage/failure.h"

namespace satchel::storage {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Kind = Failure::Kind;

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "?";
  return name.data();
}

[[noreturn]] void refuse(int error) {
  if (error == EACCES || error == EPERM || error == EROFS) {
    throw Failure(Kind::no_permission,
                  "no permission to write to the store's folder");
  }
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) {
    throw Failure(Kind::not_a_store, "there is no store to lock");
  }
  throw Failure(Kind::io, std::string("could not lock the store: ") +
                              std::strerror(error));
}

/// The pid in OWNER, if that process can be the owner: the file may be a
/// leftover, so it is never more than a hint.
std::int64_t owner_pid(const std::string& folder) {
  const int fd = ::open((folder + "/OWNER").c_str(),
                        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return 0;
  std::array<char, 512> bytes{};
  const auto size = ::read(fd, bytes.data(), bytes.size());
  ::close(fd);
  if (size <= 0) return 0;
  const std::string_view text(bytes.data(), static_cast<std::size_t>(size));
  pid_t pid = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), pid);
  const auto tail = text.substr(static_cast<std::size_t>(rest - text.data()));
  if (error != std::errc() || pid <= 0 || tail != " " + host_name() + "\n") {
    return 0;
  }
  const bool lives = ::kill(pid, 0) == 0 || errno == EPERM;
  return lives ? pid : 0;
}

/// Tells others who holds the lock. Nothing depends on it: no failure counts.
void write_owner(const std::string& folder) {
  const int fd =
      ::open((folder + "/OWNER").c_str(),
             O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return;
  const std::string text =
      std::to_string(::getpid()) + " " + host_name() + "\n";
  (void)!::fchmod(fd, 0600);
  (void)!::pwrite(fd, text.data(), text.size(), 0);
  (void)!::ftruncate(fd, static_cast<off_t>(text.size()));
  ::close(fd);
}

/// How often a file that is replaced meanwhile is tried anew without a wait.
constexpr int kMaxReplaced = 100;

enum class Attempt : std::uint8_t { locked, busy, replaced };

/// Locks the file that the path names; `replaced` when it names another by
/// the time the lock is there.
Attempt try_lock(int fd, const std::string& file) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return Attempt::busy;
    refuse(errno);
  }
  struct stat held {
  }, named{};
  if (::fstat(fd, &held) != 0) refuse(errno);
  const bool same = ::lstat(file.c_str(), &named) == 0 &&
                    held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  return same ? Attempt::locked : Attempt::replaced;
}

[[noreturn]] void locked(const std::string& folder) {
  const auto pid = owner_pid(folder);
  throw Failure(Kind::locked,
                "the store is in use by " +
                    (pid > 0 ? "process " + std::to_string(pid)
                             : std::string("another process or another open")) +
                    "; try again when it has closed the store",
                pid);
}

}  // namespace

FolderLock FolderLock::acquire(const std::string& path, milliseconds wait) {
  const std::string file = path + "/SATCHEL";
  const auto end = Clock::now() + wait;
  milliseconds pause{1};
  int replaced = 0;
  for (;;) {
    FolderLock lock(
        ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!lock.held()) refuse(errno);
    const auto attempt = try_lock(lock.fd_, file);
    if (attempt == Attempt::locked) return lock;
    lock.release();
    if (attempt == Attempt::replaced && ++replaced < kMaxReplaced) continue;
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    if (left <= milliseconds::zero()) locked(path);
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min(pause * 2, milliseconds{50});
  }
}

void FolderLock::announce(const std::string& path) const {
  if (held()) write_owner(path);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  if (this != &other) {
    release();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

FolderLock::~FolderLock() { release(); }

void FolderLock::release() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace satchel::storage
