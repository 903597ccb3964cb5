#pragma once
// The keys of a key-value scope with their sizes and deadlines, kept in memory
// for active scopes and rebuilt by one scan of the scope's prefix: what usage,
// limits and pages of keys are answered from. Never on disk: a stored counter
// drifts, and a scan would walk over everything that was deleted.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/database.h"
#include "storage/view_cache.h"

namespace satchel::storage {

/// One scope's live entries. A function with `now` answers for that time; time
/// may go back as far as the cutoff. Thread-safe.
class ScopeView {
 public:
  /// `scope` as scope_prefix() makes it. Reads everything through `db` once, on
  /// first use. Adds what it takes to `*total_bytes` as long as it lives.
  ScopeView(const Database& db, std::string scope,
            std::atomic<std::size_t>* total_bytes);
  ~ScopeView();
  ScopeView(const ScopeView&) = delete;
  ScopeView& operator=(const ScopeView&) = delete;

  struct Usage {
    std::uint64_t bytes = 0;
    std::uint64_t keys = 0;
  };
  Usage usage(std::uint64_t now);

  /// Bytes of the key and its value; 0 when there is none.
  std::uint64_t bytes_of(const std::string& key, std::uint64_t now);

  struct Row {
    std::string key;
    std::uint64_t deadline;
  };
  /// At most `limit` keys with the prefix that come after `after` ("": from the
  /// first), in byte order. `more`: whether others follow.
  std::vector<Row> page(std::string_view prefix, std::string_view after,
                        std::uint64_t now, std::size_t limit, bool* more);

  /// The key was committed with this deadline; `bytes` are its own and its
  /// value's.
  void put(const std::string& key, std::uint64_t deadline, std::uint64_t bytes);
  /// The key was deleted.
  void drop(const std::string& key);
  /// A report may be missing: what is known is read anew on the next use.
  void forget() noexcept;

 private:
  struct Entry {
    std::uint64_t deadline;
    std::uint64_t bytes;
  };
  /// Entries by key and by deadline. Nodes move between two parts as they are.
  class Part {
   public:
    using Map = std::map<std::string, Entry, std::less<>>;
    void insert(Map::node_type node);
    Map::node_type take(Map::iterator it);
    const Map& map() const { return map_; }
    Map::iterator find(const std::string& key) { return map_.find(key); }
    Map::iterator end() { return map_.end(); }
    void clear() noexcept {
      by_deadline_.clear();
      map_.clear();
      bytes_ = 0;
    }
    /// The entry that ends first, or last; end() when there is none.
    Map::iterator first_to_end();
    Map::iterator last_to_end();
    std::uint64_t bytes() const { return bytes_; }

   private:
    struct ByDeadline {
      bool operator()(const Map::iterator& a, const Map::iterator& b) const {
        if (a->second.deadline != b->second.deadline) {
          return a->second.deadline < b->second.deadline;
        }
        return a->first < b->first;
      }
    };
    Map map_;
    std::set<Map::iterator, ByDeadline> by_deadline_;
    std::uint64_t bytes_ = 0;
  };

  void load();
  void clear() noexcept;
  void add(std::string key, std::uint64_t deadline, std::uint64_t bytes);
  void remove(const std::string& key);
  /// Sorts the entries into the two parts for `now`, and forgets what the
  /// cutoff has passed.
  void settle(std::uint64_t now);
  void grow(std::size_t bytes);
  void shrink(std::size_t bytes);

  const Database& db_;
  const std::string scope_;
  std::mutex mutex_;
  bool loaded_ = false;
  Part live_;
  Part ended_;
  std::size_t memory_ = 0;
  std::atomic<std::size_t>* const total_bytes_;
};

/// Of all active scopes, by scope_prefix().
using ScopeViews = ViewCache<ScopeView>;

}  // namespace satchel::storage
