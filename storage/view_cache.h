#pragma once
// What is known in memory about users or scopes, for those in use.

#include <atomic>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace satchel::storage {

class Database;

/// Views by name, least recently used dropped first, bounded by bytes. A view
/// is made of (database, name, where to count its bytes) and reads what it
/// needs from the database by itself. Thread-safe.
template <class View>
class ViewCache {
 public:
  ViewCache(const Database& db, std::size_t capacity_bytes)
      : db_(db), capacity_(capacity_bytes) {}

  /// The view of `name`, made if need be.
  std::shared_ptr<View> of(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto it = slots_.find(name);
    if (it != slots_.end()) {
      order_.splice(order_.begin(), order_, it->second.place);
      return it->second.view;
    }
    evict();
    auto view = std::make_shared<View>(db_, std::string(name), &total_bytes_);
    order_.emplace_front(name);
    try {
      slots_.emplace(name, Slot{view, order_.begin()});
    } catch (...) {
      order_.pop_front();
      throw;
    }
    return view;
  }

  /// The view if there is one: what is not in memory needs no update.
  std::shared_ptr<View> peek(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto it = slots_.find(name);
    return it == slots_.end() ? nullptr : it->second.view;
  }

 private:
  struct Slot {
    std::shared_ptr<View> view;
    std::list<std::string>::iterator place;
  };

  /// A view in use stays: its user reports to it what a fresh one would miss.
  void evict() {
    for (auto it = order_.end();
         total_bytes_ > capacity_ && it != order_.begin();) {
      --it;
      const auto slot = slots_.find(*it);
      if (slot->second.view.use_count() > 1) continue;
      slots_.erase(slot);
      it = order_.erase(it);
    }
  }

  const Database& db_;
  const std::size_t capacity_;
  std::atomic<std::size_t> total_bytes_{0};
  std::mutex mutex_;
  std::map<std::string, Slot, std::less<>> slots_;
  std::list<std::string> order_;  // most recently used first
};

}  // namespace satchel::storage
