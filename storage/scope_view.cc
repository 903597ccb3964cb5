#include "storage/scope_view.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace satchel::storage {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;

// Estimates of memory taken.
constexpr std::size_t kViewBytes = 500;

std::size_t memory_of(std::string_view key) { return 180 + key.size(); }

}  // namespace

// ---- Part

void ScopeView::Part::insert(Node node) {
  bytes_ += node.entry.mapped().bytes;
  node.place.value() = map_.insert(std::move(node.entry)).position;
  order_.insert(std::move(node.place));
}

ScopeView::Part::Node ScopeView::Part::take(Map::iterator it) {
  bytes_ -= it->second.bytes;
  auto place = order_.extract(it);
  return {map_.extract(it), std::move(place)};
}

void ScopeView::Part::clear() noexcept {
  order_.clear();
  map_.clear();
  bytes_ = 0;
}

ScopeView::Part::Map::iterator ScopeView::Part::first_to_end() {
  return order_.empty() ? map_.end() : *order_.begin();
}

ScopeView::Part::Map::iterator ScopeView::Part::last_to_end() {
  return order_.empty() ? map_.end() : *std::prev(order_.end());
}

// ---- ScopeView

ScopeView::ScopeView(const Database& db, std::string scope,
                     std::atomic<std::size_t>* total_bytes)
    : db_(db), scope_(std::move(scope)), total_bytes_(total_bytes) {
  // The cache holds the name, too.
  grow(kViewBytes + 3 * scope_.size());
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

std::uint64_t ScopeView::horizon(std::uint64_t now) const {
  return std::max(db_.cutoff(), now < kSecond ? 0 : now - kSecond);
}

void ScopeView::load(std::uint64_t now) {
  // The view is registered before this snapshot is taken, so a commit is
  // either in the snapshot or waits for this lock to report itself.
  clear();
  const auto gone = horizon(now);
  db_.view().scope(scope_, [&](std::string_view key, std::uint64_t deadline,
                               std::size_t value_bytes) {
    if (deadline <= gone) return;
    add(std::string(key), deadline, key.size() + value_bytes);
  });
  forgotten_ = gone;
  loaded_ = true;
}

void ScopeView::clear() noexcept {
  loaded_ = false;
  live_.clear();
  ended_.clear();
  shrink(memory_ - kViewBytes - 3 * scope_.size());
}

void ScopeView::add(std::string key, std::uint64_t deadline,
                    std::uint64_t bytes) {
  const auto memory = memory_of(key);
  Part::Map map;
  const auto it = map.emplace(std::move(key), Entry{deadline, bytes}).first;
  Part::Order order;
  order.insert(it);
  auto place = order.extract(order.begin());
  live_.insert({map.extract(it), std::move(place)});
  grow(memory);
}

void ScopeView::remove(std::string_view key) {
  for (auto* part : {&live_, &ended_}) {
    const auto it = part->find(key);
    if (it == part->end()) continue;
    shrink(memory_of(key));
    part->take(it);
    return;
  }
}

void ScopeView::settle(std::uint64_t now) {
  // What ended between the two could be alive at `now`.
  const bool went_back = now < forgotten_ && db_.cutoff() < forgotten_;
  if (!loaded_ || went_back) load(now);
  for (auto it = live_.first_to_end();
       it != live_.end() && it->second.deadline <= now;
       it = live_.first_to_end()) {
    ended_.insert(live_.take(it));
  }
  for (auto it = ended_.last_to_end();
       it != ended_.end() && it->second.deadline > now;
       it = ended_.last_to_end()) {
    live_.insert(ended_.take(it));
  }
  const auto gone = horizon(now);
  for (auto it = ended_.first_to_end();
       it != ended_.end() && it->second.deadline <= gone;
       it = ended_.first_to_end()) {
    shrink(memory_of(it->first));
    ended_.take(it);
  }
  forgotten_ = std::max(forgotten_, gone);
}

ScopeView::Usage ScopeView::usage(std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  settle(now);
  return {live_.bytes(), live_.map().size()};
}

std::uint64_t ScopeView::bytes_of(const std::string& key, std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  settle(now);
  const auto it = live_.find(key);
  return it == live_.end() ? 0 : it->second.bytes;
}

std::vector<ScopeView::Row> ScopeView::page(std::string_view prefix,
                                            std::string_view after,
                                            std::uint64_t now,
                                            std::size_t limit, bool* more) {
  const std::lock_guard lock(mutex_);
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

void ScopeView::apply(const std::vector<Change>& changes) {
  const std::lock_guard lock(mutex_);
  if (!loaded_) return;
  for (const auto& change : changes) {
    remove(change.key);
    if (change.bytes != 0) {
      add(std::string(change.key), change.deadline, change.bytes);
    }
  }
}

void ScopeView::forget() noexcept {
  const std::lock_guard lock(mutex_);
  clear();
}

}  // namespace satchel::storage
