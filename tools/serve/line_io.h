#pragma once
// Lines in and out of file descriptors: how messages travel on stdio.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace satchel::tools::serve {

/// Cuts bytes into lines. Memory stays within the longest line that is taken.
class LineSplitter {
 public:
  struct Line {
    /// Without "\n", "\r\n" and a byte order mark.
    std::string text;
    /// The line was longer than is taken, and is not here.
    bool too_long = false;
  };

  explicit LineSplitter(std::size_t longest) : longest_(longest) {}

  /// Appends the lines that `bytes` complete; blank ones are left out.
  void feed(std::string_view bytes, std::deque<Line>* out);
  /// The input ended: what it ended in counts as a line.
  void finish(std::deque<Line>* out);

 private:
  void keep(std::string_view bytes);
  void emit(std::deque<Line>* out);

  const std::size_t longest_;
  std::string line_;
  bool too_long_ = false;
};

/// Writes whole lines from any thread. One of the threads that have something
/// to say writes for all; the others leave their lines with it and go on, as
/// long as the reader is not too far behind.
class LineOutput {
 public:
  explicit LineOutput(int fd) : fd_(fd) {}

  void write(std::string_view line);
  /// Nobody takes the output any more.
  bool is_dead() const;

 private:
  bool put(std::string_view text) const;

  static constexpr std::size_t kMostPending = std::size_t{64} << 20;
  const int fd_;
  mutable std::mutex mutex_;
  std::condition_variable written_;
  std::string pending_;
  bool writing_ = false;
  bool dead_ = false;
};

}  // namespace satchel::tools::serve
