#include "tools/serve/workers.h"

#include <utility>

namespace satchel::tools::serve {

Workers::~Workers() { finish(); }

void Workers::post(Task task) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(task));
    if (idle_ < waiting_.size() && threads_.size() < most_) {
      threads_.emplace_back([this] { run(); });
    }
  }
  posted_.notify_one();
}

std::size_t Workers::unfinished() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size() + running_;
}

void Workers::finish() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  posted_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Workers::drop_waiting() {
  const std::scoped_lock lock(mutex_);
  waiting_.clear();
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    posted_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    const Task task = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    task();
    lock.lock();
    --running_;
  }
}

}  // namespace satchel::tools::serve
