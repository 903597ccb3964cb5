#include "storage/scope_view.h"

#include <iterator>

namespace satchel::storage {
namespace {

// Estimates of memory taken.
constexpr std::size_t kViewBytes = 500;

std::size_t memory_of(const std::string& key) { return 180 + key.size(); }

}  // namespace

// ---- Part

void ScopeView::Part::insert(Map::node_type node) {
  bytes_ += node.mapped().bytes;
  by_deadline_.insert(map_.insert(std::move(node)).position);
}

ScopeView::Part::Map::node_type ScopeView::Part::take(Map::iterator it) {
  bytes_ -= it->second.bytes;
  by_deadline_.erase(it);
  return map_.extract(it);
}

ScopeView::Part::Map::iterator ScopeView::Part::first_to_end() {
  return by_deadline_.empty() ? map_.end() : *by_deadline_.begin();
}

ScopeView::Part::Map::iterator ScopeView::Part::last_to_end() {
  return by_deadline_.empty() ? map_.end() : *std::prev(by_deadline_.end());
}

// ---- ScopeView

ScopeView::ScopeView(const Database& db, std::string scope,
                     std::atomic<std::size_t>* total_bytes)
    : db_(db), scope_(std::move(scope)), total_bytes_(total_bytes) {
  grow(kViewBytes + scope_.size());
}

ScopeView::~ScopeView() { *total_bytes_ -= memory_; }

void ScopeView::grow(std::size_t bytes) {
  memory_ += bytes;
  *total_bytes_ += bytes;
}

void ScopeView::shrink(std::size_t bytes) {
  memory_ -= bytes;
  *total_bytes_ -= bytes;
}

void ScopeView::load() {
  // The view is registered before this snapshot is taken, so a commit is
  // either in the snapshot or waits for this lock to report itself.
  if (loaded_) return;
  // A load before may have failed halfway.
  clear();
  db_.view().scope(scope_, [&](std::string key, std::uint64_t deadline,
                               std::size_t value_bytes) {
    const auto bytes = key.size() + value_bytes;
    add(std::move(key), deadline, bytes);
  });
  loaded_ = true;
}

void ScopeView::clear() noexcept {
  live_.clear();
  ended_.clear();
  shrink(memory_ - kViewBytes - scope_.size());
}

void ScopeView::add(std::string key, std::uint64_t deadline,
                    std::uint64_t bytes) {
  const auto memory = memory_of(key);
  Part::Map one;
  one.emplace(std::move(key), Entry{deadline, bytes});
  live_.insert(one.extract(one.begin()));
  grow(memory);
}

void ScopeView::remove(const std::string& key) {
  for (auto* part : {&live_, &ended_}) {
    const auto it = part->find(key);
    if (it == part->end()) continue;
    shrink(memory_of(key));
    part->take(it);
    return;
  }
}

void ScopeView::settle(std::uint64_t now) {
  for (auto it = live_.first_to_end();
       it != live_.end() && it->second.deadline <= now;
       it = live_.first_to_end()) {
    ended_.insert(live_.take(it));
  }
  // The clock went back.
  for (auto it = ended_.last_to_end();
       it != ended_.end() && it->second.deadline > now;
       it = ended_.last_to_end()) {
    live_.insert(ended_.take(it));
  }
  const auto cutoff = db_.cutoff();
  for (auto it = ended_.first_to_end();
       it != ended_.end() && it->second.deadline <= cutoff;
       it = ended_.first_to_end()) {
    shrink(memory_of(it->first));
    ended_.take(it);
  }
}

ScopeView::Usage ScopeView::usage(std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  load();
  settle(now);
  return {live_.bytes(), live_.map().size()};
}

std::uint64_t ScopeView::bytes_of(const std::string& key, std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  load();
  settle(now);
  const auto it = live_.find(key);
  return it == live_.end() ? 0 : it->second.bytes;
}

std::vector<ScopeView::Row> ScopeView::page(std::string_view prefix,
                                            std::string_view after,
                                            std::uint64_t now,
                                            std::size_t limit, bool* more) {
  const std::lock_guard lock(mutex_);
  load();
  settle(now);
  const auto& map = live_.map();
  auto it = after < prefix ? map.lower_bound(prefix) : map.upper_bound(after);
  std::vector<Row> rows;
  for (; it != map.end() && it->first.starts_with(prefix); ++it) {
    if (rows.size() == limit) {
      *more = true;
      return rows;
    }
    rows.push_back({it->first, it->second.deadline});
  }
  *more = false;
  return rows;
}

void ScopeView::put(const std::string& key, std::uint64_t deadline,
                    std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!loaded_) return;
  remove(key);
  add(key, deadline, bytes);
}

void ScopeView::drop(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (loaded_) remove(key);
}

void ScopeView::forget() noexcept {
  const std::lock_guard lock(mutex_);
  loaded_ = false;
  clear();
}

}  // namespace satchel::storage
