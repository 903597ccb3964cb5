#pragma once
// A thread that does one thing again and again until it is destroyed.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace satchel::embedded {

/// Calls `work` every `interval`, the first time after one interval. `work`
/// must not throw.
class Periodic {
 public:
  Periodic(std::chrono::milliseconds interval, std::function<void()> work)
      : work_(std::move(work)), thread_([this, interval] { run(interval); }) {}

  ~Periodic() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

 private:
  void run(std::chrono::milliseconds interval) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, interval, [this] { return stopping_; })) {
      lock.unlock();
      work_();
      lock.lock();
    }
  }

  const std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace satchel::embedded
