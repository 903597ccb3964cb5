#pragma once
// Writers of one key that arrive while another is at work wait and are then
// served together, by one of them.

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace satchel::embedded {

/// Per key at most one batch is at work at a time, and items are served in the
/// order of their arrival. Thread-safe.
template <class Item>
class CombiningQueue {
 public:
  using Batch = std::vector<Item*>;

  /// Returns true when `item` was part of a batch that `execute` (which must
  /// not throw) has finished, on this thread or another; false when it waited
  /// longer than `patience` without being taken, and nothing was done.
  template <class Execute>
  bool run(const std::string& key, Item& item,
           std::chrono::milliseconds patience, const Execute& execute) {
    auto& shard = shards_[std::hash<std::string>()(key) % shards_.size()];
    Waiter self{&item};
    std::unique_lock lock(shard.mutex);
    auto& line = shard.lines[key];
    line.waiting.push_back(&self);
    if (line.busy) {
      const bool called = self.turn.wait_for(
          lock, patience, [&] { return self.state != State::waiting; });
      if (!called) {
        std::erase(line.waiting, &self);
        return false;
      }
      // Taken by a leader: its end has to be awaited.
      self.turn.wait(lock, [&] { return self.state != State::taken; });
      if (self.state == State::done) return true;
    }
    line.busy = true;
    serve(shard, key, line, lock, execute);
    return true;
  }

 private:
  enum class State { waiting, taken, done, leader };
  struct Waiter {
    Item* item;
    State state = State::waiting;
    std::condition_variable turn{};
  };
  struct Line {
    std::deque<Waiter*> waiting;
    bool busy = false;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::string, Line> lines;
  };

  /// Bounds the latency of the first in a batch.
  static constexpr std::size_t kMaxBatch = 64;

  /// Serves the items that wait now, the caller's (the first) among them, then
  /// hands the line over to the next waiter.
  template <class Execute>
  static void serve(Shard& shard, const std::string& key, Line& line,
                    std::unique_lock<std::mutex>& lock,
                    const Execute& execute) {
    const auto count = std::min(line.waiting.size(), kMaxBatch);
    const std::vector<Waiter*> taken(
        line.waiting.begin(),
        line.waiting.begin() + static_cast<std::ptrdiff_t>(count));
    line.waiting.erase(
        line.waiting.begin(),
        line.waiting.begin() + static_cast<std::ptrdiff_t>(count));
    Batch batch;
    for (auto* waiter : taken) {
      waiter->state = State::taken;
      batch.push_back(waiter->item);
    }
    lock.unlock();
    execute(batch);
    lock.lock();
    for (auto* waiter : taken) {
      waiter->state = State::done;
      waiter->turn.notify_one();
    }
    if (line.waiting.empty()) {
      shard.lines.erase(key);
    } else {
      auto* next = line.waiting.front();
      next->state = State::leader;
      next->turn.notify_one();
    }
  }

  std::array<Shard, 64> shards_;
};

}  // namespace satchel::embedded
