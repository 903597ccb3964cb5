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
#include <vector>

#include "storage/database.h"
#include "storage/view_cache.h"

namespace satchel::storage {

/// One scope's entries. A function with `now` answers for that time.
/// Thread-safe.
class ScopeView {
 public:
  /// `scope` as scope_prefix() makes it. Reads everything through `db` once, on
  /// first use (and again when the clock went back by more than a second). Adds
  /// what it takes to `*total_bytes` as long as it lives.
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

  /// What became of a key in a commit.
  struct Change {
    std::string_view key;
    std::uint64_t deadline;
    /// Of key and value; 0: the key was deleted.
    std::uint64_t bytes;
  };
  /// Everything of one commit; others see all of it or nothing.
  void apply(const std::vector<Change>& changes);
  /// A commit could not be reported: all is read anew on the next use.
  void forget() noexcept;

 private:
  struct Entry {
    std::uint64_t deadline;
    std::uint64_t bytes;
  };
  /// Entries by key and by deadline.
  class Part {
   public:
    using Map = std::map<std::string, Entry, std::less<>>;
    struct ByDeadline {
      bool operator()(const Map::iterator& a, const Map::iterator& b) const {
        if (a->second.deadline != b->second.deadline) {
          return a->second.deadline < b->second.deadline;
        }
        return a->first < b->first;
      }
    };
    using Order = std::set<Map::iterator, ByDeadline>;
    /// An entry on its way between two parts; moving it allocates nothing.
    struct Node {
      Map::node_type entry;
      Order::node_type place;
    };

    void insert(Node node);
    Node take(Map::iterator it);
    void clear() noexcept;
    const Map& map() const { return map_; }
    Map::iterator find(std::string_view key) { return map_.find(key); }
    Map::iterator end() { return map_.end(); }
    /// The entry that ends first, or last; end() when there is none.
    Map::iterator first_to_end();
    Map::iterator last_to_end();
    std::uint64_t bytes() const { return bytes_; }

   private:
    Map map_;
    Order order_;
    std::uint64_t bytes_ = 0;
  };

  /// Makes `live_` what is alive at `now`.
  void settle(std::uint64_t now);
  void load(std::uint64_t now);
  void clear() noexcept;
  void add(std::string key, std::uint64_t deadline, std::uint64_t bytes);
  void remove(std::string_view key);
  /// What ended at or before this is not remembered, seen from `now`: dead for
  /// good, or a second ago. (Threads look at the clock before they come here,
  /// so a little earlier ones are usual.)
  std::uint64_t horizon(std::uint64_t now) const;
  void grow(std::size_t bytes);
  void shrink(std::size_t bytes);

  const Database& db_;
  const std::string scope_;
  std::mutex mutex_;
  bool loaded_ = false;
  Part live_;
  /// What ended less than a second before the latest time seen.
  Part ended_;
  /// Of what ended by then, nothing is known any more.
  std::uint64_t forgotten_ = 0;
  std::size_t memory_ = 0;
  std::atomic<std::size_t>* const total_bytes_;
};

/// Of all active scopes, by scope_prefix().
using ScopeViews = ViewCache<ScopeView>;

}  // namespace satchel::storage
