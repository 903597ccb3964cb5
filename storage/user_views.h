#pragma once
// What is asked about all handles of a user (the list, the counts that limits
// are checked against, what a sweep must look at), kept in memory for active
// users and rebuilt by one scan of the head family's prefix. Never on disk: a
// stored index costs every write and drifts.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/database.h"
#include "storage/format.h"
#include "storage/view_cache.h"

namespace satchel::storage {

/// One user's handles. Thread-safe.
class UserView {
 public:
  /// Reads everything through `db` once, on first use. Adds what it takes to
  /// `*total_bytes` as long as it lives.
  UserView(const Database& db, std::string user,
           std::atomic<std::size_t>* total_bytes);
  ~UserView();

  /// A place in the list: most recently updated first, then by handle.
  struct Position {
    std::uint64_t updated = 0;
    std::string handle;
  };
  struct Row {
    std::string handle;
    Head head;
  };
  /// At most `limit` rows after `after` (none: from the start). `more`: whether
  /// others follow.
  std::vector<Row> page(const std::optional<Position>& after,
                        std::string_view kind, bool include_expired,
                        std::uint64_t now, std::size_t limit, bool* more);

  /// Takes a place for a new handle unless `limit` live ones (and places) are
  /// held; `*held` is their number. A place is given back by release() or
  /// becomes the handle in committed().
  bool reserve(std::uint64_t now, std::uint32_t limit, std::uint64_t* held);
  void release();

  /// Counts a request id unless `limit` live ones are held.
  bool reserve_request(std::uint64_t now, std::uint64_t deadline,
                       std::uint32_t limit, std::uint64_t* held);
  void release_request(std::uint64_t deadline);

  /// Handles that are expired at `now` and not swept.
  std::vector<std::string> expired(std::uint64_t now);

  /// The oldest tombstones beyond the newest `keep`.
  std::vector<std::string> excess_tombstones(std::size_t keep);

  /// The head of `handle` is now this, unless a later one is known already; or
  /// gone.
  void committed(std::string_view handle, const Head& head, bool was_reserved);
  void dropped(std::string_view handle);

 private:
  struct ByRecency {
    bool operator()(const Position& a, const Position& b) const {
      if (a.updated != b.updated) return a.updated > b.updated;
      return a.handle < b.handle;
    }
  };
  using ByTime = std::set<std::pair<std::uint64_t, std::string>>;

  void load();
  void load_requests();
  void grow(std::size_t bytes);
  void shrink(std::size_t bytes);
  void add(std::string handle, Head head);
  void remove(const std::string& handle);
  void remove_tombstone(const std::string& handle);
  /// Moves handles between alive_ and expired_ as `now` says.
  void settle(std::uint64_t now);

  const Database& db_;
  const std::string user_;
  std::mutex mutex_;
  bool loaded_ = false;
  std::unordered_map<std::string, Head> heads_;  // live status only
  std::set<Position, ByRecency> recency_;
  ByTime alive_;    // by deadline
  ByTime expired_;  // by deadline
  ByTime tombstones_;
  std::unordered_map<std::string, std::uint64_t> times_of_death_;
  std::uint64_t reserved_ = 0;
  bool requests_loaded_ = false;
  std::multiset<std::uint64_t> request_deadlines_;
  std::size_t bytes_ = 0;
  std::atomic<std::size_t>* const total_bytes_;
};

/// Of all active users, by name.
using UserViews = ViewCache<UserView>;

}  // namespace satchel::storage
