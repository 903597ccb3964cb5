#pragma once
// Runs real programs from tests.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace satchel::test {

struct Command {
  /// argv[0] is looked up in PATH unless it holds a '/'.
  std::vector<std::string> argv;
  /// Bytes on standard input; none: /dev/null.
  std::optional<std::string> input;
  /// Variables to set or, when none, to take away.
  std::map<std::string, std::optional<std::string>> env;
  /// Working directory; empty: this one's.
  std::string directory;
  /// Where standard output goes instead of `Finished::out`; empty: there.
  std::string stdout_path;
  /// File mode mask of the child; none: this one's.
  std::optional<unsigned> umask;
  /// After this the child is killed and `Finished::timed_out` set.
  std::chrono::seconds timeout{60};
};

struct Finished {
  /// 0 to 255; 128 + signal when a signal ended it.
  int exit_code = -1;
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// Runs `command` to its end. Throws std::runtime_error when it cannot be
/// started.
Finished run(const Command& command);

/// A program that runs while the test goes on.
class Process {
 public:
  explicit Process(const Command& command);
  /// Kills the child when it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int pid() const { return pid_; }
  /// Writes to the child's standard input; false when it is closed.
  bool write(const std::string& text);
  void close_input();
  /// The next line of standard output without its end; none at the end of the
  /// output or after the timeout.
  std::optional<std::string> read_line();
  void kill(int signal);
  /// Reads what is left and waits for the end, at most Command::timeout.
  Finished wait();

 private:
  /// Takes what the child says, waiting for it or, to_write, for room in its
  /// input.
  void pump(int timeout_ms, bool to_write = false);
  void close_all();
  int left_ms() const;

  int pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string out_text_;
  std::string err_text_;
  std::chrono::steady_clock::time_point end_;
};

/// The program under test: $SATCHEL_BIN. Throws when it is not set.
std::string satchel_binary();

}  // namespace satchel::test
