#include "storage/user_views.h"

#include <iterator>

namespace satchel::storage {
namespace {

// Estimates of memory taken.
constexpr std::size_t kViewBytes = 700;
constexpr std::size_t kTombstoneBytes = 100;
constexpr std::size_t kRequestBytes = 60;

/// What a row takes in the map and the three sets.
std::size_t row_bytes(const std::string& handle, const Head& head) {
  return 600 + 4 * handle.size() + head.kind.size() + head.last_writer.size();
}

}  // namespace

UserView::UserView(const Database& db, std::string user,
                   std::atomic<std::size_t>* total_bytes)
    : db_(db), user_(std::move(user)), total_bytes_(total_bytes) {
  grow(kViewBytes + user_.size());
}

UserView::~UserView() { *total_bytes_ -= bytes_; }

void UserView::grow(std::size_t bytes) {
  bytes_ += bytes;
  *total_bytes_ += bytes;
}

void UserView::shrink(std::size_t bytes) {
  bytes_ -= bytes;
  *total_bytes_ -= bytes;
}

void UserView::load() {
  // The view is registered before this snapshot is taken, so a commit is
  // either in the snapshot or waits for this lock to report itself.
  if (loaded_) return;
  const auto view = db_.view();
  view.heads(user_, [&](std::string handle, Head head) {
    add(std::move(handle), std::move(head));
  });
  loaded_ = true;
}

void UserView::load_requests() {
  if (requests_loaded_) return;
  db_.view().requests(user_, [&](std::uint64_t deadline) {
    request_deadlines_.insert(deadline);
  });
  grow(kRequestBytes * request_deadlines_.size());
  requests_loaded_ = true;
}

void UserView::add(std::string handle, Head head) {
  if (head.status != Status::live) {
    times_of_death_.insert_or_assign(handle, head.deadline);
    tombstones_.emplace(head.deadline, std::move(handle));
    grow(kTombstoneBytes);
    return;
  }
  grow(row_bytes(handle, head));
  recency_.insert({head.updated, handle});
  alive_.emplace(head.deadline, handle);
  heads_.insert_or_assign(std::move(handle), std::move(head));
}

void UserView::remove_tombstone(const std::string& handle) {
  const auto it = times_of_death_.find(handle);
  if (it == times_of_death_.end()) return;
  tombstones_.erase({it->second, handle});
  times_of_death_.erase(it);
  shrink(kTombstoneBytes);
}

void UserView::remove(const std::string& handle) {
  remove_tombstone(handle);
  const auto it = heads_.find(handle);
  if (it == heads_.end()) return;
  const auto& head = it->second;
  shrink(row_bytes(handle, head));
  recency_.erase({head.updated, handle});
  alive_.erase({head.deadline, handle});
  expired_.erase({head.deadline, handle});
  heads_.erase(it);
}

void UserView::settle(std::uint64_t now) {
  while (!alive_.empty() && alive_.begin()->first <= now) {
    expired_.insert(alive_.extract(alive_.begin()));
  }
  while (!expired_.empty() && expired_.rbegin()->first > now) {
    alive_.insert(expired_.extract(std::prev(expired_.end())));
  }
}

std::vector<UserView::Row> UserView::page(const std::optional<Position>& after,
                                          std::string_view kind,
                                          bool include_expired,
                                          std::uint64_t now, std::size_t limit,
                                          bool* more) {
  const std::lock_guard lock(mutex_);
  load();
  *more = false;
  std::vector<Row> rows;
  auto it = after ? recency_.upper_bound(*after) : recency_.begin();
  for (; it != recency_.end(); ++it) {
    const auto& head = heads_.at(it->handle);
    if (!kind.empty() && head.kind != kind) continue;
    if (!include_expired && head.deadline <= now) continue;
    if (rows.size() == limit) {
      *more = true;
      break;
    }
    rows.push_back({it->handle, head});
  }
  return rows;
}

bool UserView::reserve(std::uint64_t now, std::uint32_t limit,
                       std::uint64_t* held) {
  const std::lock_guard lock(mutex_);
  load();
  settle(now);
  *held = alive_.size() + reserved_;
  if (*held >= limit) return false;
  ++reserved_;
  return true;
}

void UserView::release() {
  const std::lock_guard lock(mutex_);
  --reserved_;
}

bool UserView::reserve_request(std::uint64_t now, std::uint64_t deadline,
                               std::uint32_t limit, std::uint64_t* held) {
  const std::lock_guard lock(mutex_);
  load_requests();
  while (!request_deadlines_.empty() && *request_deadlines_.begin() <= now) {
    request_deadlines_.erase(request_deadlines_.begin());
    shrink(kRequestBytes);
  }
  *held = request_deadlines_.size();
  if (*held >= limit) {
    // What a wrong clock dated later than any call can now is no hindrance.
    *held = static_cast<std::uint64_t>(std::distance(
        request_deadlines_.begin(), request_deadlines_.upper_bound(deadline)));
    if (*held >= limit) return false;
  }
  request_deadlines_.insert(deadline);
  grow(kRequestBytes);
  return true;
}

void UserView::release_request(std::uint64_t deadline) {
  const std::lock_guard lock(mutex_);
  const auto it = request_deadlines_.find(deadline);
  if (it == request_deadlines_.end()) return;
  request_deadlines_.erase(it);
  shrink(kRequestBytes);
}

std::vector<std::string> UserView::expired(std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  load();
  settle(now);
  std::vector<std::string> handles;
  for (const auto& [deadline, handle] : expired_) handles.push_back(handle);
  return handles;
}

std::vector<std::string> UserView::excess_tombstones(std::size_t keep) {
  const std::lock_guard lock(mutex_);
  load();
  std::vector<std::string> handles;
  auto it = tombstones_.begin();
  for (auto n = tombstones_.size(); n > keep; --n) {
    handles.push_back((it++)->second);
  }
  return handles;
}

void UserView::committed(std::string_view handle, const Head& head,
                         bool was_reserved) {
  const std::lock_guard lock(mutex_);
  if (was_reserved) --reserved_;
  if (!loaded_) return;
  std::string name(handle);
  // A mint reports itself last: others may have gone on with the handle.
  if (was_reserved &&
      (heads_.contains(name) || times_of_death_.contains(name))) {
    return;
  }
  remove(name);
  add(std::move(name), head);
}

void UserView::dropped(std::string_view handle) {
  const std::lock_guard lock(mutex_);
  remove_tombstone(std::string(handle));
}

}  // namespace satchel::storage
