#pragma once
// Threads that work through a queue.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace satchel::tools::serve {

/// Threads are started when the work needs them, `most` at the most, and stay.
/// Thread-safe.
class Workers {
 public:
  using Task = std::function<void()>;

  explicit Workers(std::size_t most) : most_(most) {}
  /// As finish().
  ~Workers();

  void post(Task task);
  /// Tasks that have not ended.
  std::size_t unfinished() const;
  /// Waits until all tasks have ended, then ends the threads.
  void finish();
  /// Tasks that have not begun never will.
  void drop_waiting();

 private:
  void run();

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Task> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  bool ending_ = false;
};

}  // namespace satchel::tools::serve
