#pragma once
// Who did what: one JSON line for each read, write and refusal.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "tools/serve/caller.h"

namespace satchel::tools::serve {

/// One call and what came of it; never state, never a token.
struct AuditEntry {
  /// The tool, or "kv.set", "resources/read" and so on.
  std::string tool;
  std::string handle;
  std::optional<std::uint64_t> version_before;
  std::optional<std::uint64_t> version_after;
  /// "ok" or the error's code.
  std::string outcome = "ok";
  std::string request_id;
};

/// Appends lines to a file of mode 0600. At 64 MiB the file is renamed to
/// FILE.1, what was that to FILE.2, and so on; ten old files are kept.
/// Thread-safe; processes may share a file.
class AuditLog {
 public:
  /// Throws backend_error when the file cannot be opened, unless
  /// `best_effort`.
  AuditLog(std::string path, bool best_effort);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  /// The line is with the operating system on return. When it cannot be written
  /// throws backend_error, or, with best_effort, warns once on stderr.
  void write(const AuditEntry& entry, const Caller& caller);

  /// For tests: where a file is full.
  static constexpr std::uint64_t kFullBytes = std::uint64_t{64} << 20;
  static constexpr int kOldFiles = 10;

 private:
  bool open();
  bool take();
  bool rotate();
  bool append(const std::string& line);
  bool append_taken(const std::string& line);

  const std::string path_;
  const bool best_effort_;
  std::mutex mutex_;
  int fd_ = -1;
  /// Of the file when it was taken.
  std::uint64_t size_ = 0;
  bool warned_ = false;
};

}  // namespace satchel::tools::serve
