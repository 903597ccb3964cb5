#include "tools/serve/line_io.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace satchel::tools::serve {

void LineSplitter::keep(std::string_view bytes) {
  if (too_long_) return;
  if (line_.size() + bytes.size() > longest_) {
    too_long_ = true;
    line_ = std::string();
  } else {
    line_.append(bytes);
  }
}

void LineSplitter::emit(std::deque<Line>* out) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line_.starts_with(kByteOrderMark)) line_.erase(0, kByteOrderMark.size());
  if (line_.ends_with('\r')) line_.pop_back();
  const bool blank = line_.find_first_not_of(" \t\r") == line_.npos;
  if (too_long_ || !blank) {
    out->push_back({std::exchange(line_, {}), too_long_});
  }
  line_.clear();
  too_long_ = false;
}

void LineSplitter::feed(std::string_view bytes, std::deque<Line>* out) {
  for (std::size_t end; (end = bytes.find('\n')) != bytes.npos;) {
    keep(bytes.substr(0, end));
    emit(out);
    bytes.remove_prefix(end + 1);
  }
  keep(bytes);
}

void LineSplitter::finish(std::deque<Line>* out) { emit(out); }

bool LineOutput::put(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Another holder of the pipe made it non-blocking.
      pollfd ready = {fd_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void LineOutput::write(std::string_view line) {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] {
    return dead_ || !writing_ || pending_.size() < kMostPending;
  });
  if (dead_) return;
  pending_.append(line) += '\n';
  if (writing_) return;
  writing_ = true;
  std::string text;
  while (!pending_.empty() && !dead_) {
    text.clear();
    text.swap(pending_);
    lock.unlock();
    const bool taken = put(text);
    lock.lock();
    if (!taken) dead_ = true;
    written_.notify_all();
  }
  writing_ = false;
}

bool LineOutput::is_dead() const {
  const std::scoped_lock lock(mutex_);
  return dead_;
}

}  // namespace satchel::tools::serve
