#include "tools/serve/audit.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "satchel/document.h"
#include "satchel/objects.h"
#include "tools/output.h"

namespace satchel::tools::serve {
namespace {

std::string line_of(const AuditEntry& entry, const Caller& caller) {
  Json line = {{"time", to_rfc3339(system_clock()->now())},
               {"user", caller.user}};
  if (!caller.client.empty()) line["client"] = caller.client;
  line["tool"] = entry.tool;
  if (!entry.handle.empty()) line["handle"] = entry.handle;
  if (entry.version_before) line["version_before"] = *entry.version_before;
  if (entry.version_after) line["version_after"] = *entry.version_after;
  line["outcome"] = entry.outcome;
  if (!entry.request_id.empty()) line["request_id"] = entry.request_id;
  // Handles and ids come from outside; what is no UTF-8 must not stop a line.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Error not_written() {
  return {ErrorCode::backend_error,
          "the audit log cannot be written, so this server answers no calls; "
          "whether this one was carried out is not known"};
}

}  // namespace

AuditLog::AuditLog(std::string path, bool best_effort)
    : path_(std::move(path)), best_effort_(best_effort) {
  if (!open() && !best_effort_) throw not_written();
}

AuditLog::~AuditLog() {
  if (fd_ >= 0) ::close(fd_);
}

bool AuditLog::open() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  struct stat info = {};
  if (fd_ < 0 || ::fstat(fd_, &info) != 0) return false;
  // A file that was there before may be open to others.
  return !S_ISREG(info.st_mode) || (info.st_mode & 077) == 0 ||
         ::fchmod(fd_, 0600) == 0;
}

/// Locks the file that the path names, among processes, and learns its size.
bool AuditLog::take() {
  for (int tries = 0; tries < 3; ++tries) {
    if (fd_ < 0 && !open()) return false;
    struct stat ours = {};
    struct stat named = {};
    if (::fstat(fd_, &ours) != 0) return false;
    size_ = 0;
    if (!S_ISREG(ours.st_mode)) return true;
    if (::flock(fd_, LOCK_EX) != 0 || ::fstat(fd_, &ours) != 0) return false;
    size_ = static_cast<std::uint64_t>(ours.st_size);
    if (::stat(path_.c_str(), &named) == 0 && named.st_dev == ours.st_dev &&
        named.st_ino == ours.st_ino) {
      return true;
    }
    // Put aside by another process.
    if (!open()) return false;
  }
  return false;
}

bool AuditLog::rotate() {
  for (int i = kOldFiles - 1; i >= 0; --i) {
    const auto from = i == 0 ? path_ : path_ + '.' + std::to_string(i);
    const auto to = path_ + '.' + std::to_string(i + 1);
    if (std::rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT) {
      return false;
    }
  }
  return open() && take();
}

bool AuditLog::append(const std::string& line) {
  const bool done = take() && append_taken(line);
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
  return done;
}

bool AuditLog::append_taken(const std::string& line) {
  if (size_ + line.size() > kFullBytes && size_ > 0 && !rotate()) return false;
  std::size_t done = 0;
  while (done < line.size()) {
    const auto n = ::write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      // Half a line would spoil the next one.
      [[maybe_unused]] const int cut =
          done > 0 ? ::ftruncate(fd_, static_cast<off_t>(size_)) : 0;
      return false;
    }
    done += static_cast<std::size_t>(n);
  }
  return true;
}

void AuditLog::write(const AuditEntry& entry, const Caller& caller) {
  const auto line = line_of(entry, caller);
  const std::lock_guard lock(mutex_);
  if (append(line)) return;
  if (!best_effort_) throw not_written();
  if (!warned_) warn("the audit log cannot be written; calls go on without it");
  warned_ = true;
}

}  // namespace satchel::tools::serve
