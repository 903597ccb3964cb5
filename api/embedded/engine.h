#pragma once
// What the calls of the embedded store share, and the ways to read a handle.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "api/embedded/combining_queue.h"
#include "satchel/document.h"
#include "satchel/json.h"
#include "satchel/options.h"
#include "storage/clock_guard.h"
#include "storage/database.h"
#include "storage/lru_cache.h"
#include "storage/scope_view.h"
#include "storage/user_views.h"
#include "storage/version_log.h"

namespace satchel::embedded {

struct KvMutation;
struct Mutation;
using Text = std::shared_ptr<const std::string>;

/// A live handle in memory. Readers of head and text take `mutex` alone;
/// whoever changes or reads the tree holds `writing` first, through the commit.
struct CachedHandle {
  std::mutex mutex;
  storage::Head head;
  /// Canonical text of head.version; null until somebody asks, when patches
  /// went before.
  Text text;

  std::mutex writing;
  /// The state of head.version; ops are applied in place.
  std::optional<Json> tree;
  std::optional<storage::Chain> chain;

  /// About how much memory this takes.
  std::size_t bytes() const;
};

/// A state as it is now.
struct Current {
  storage::Head head;
  Text text;
};

struct Engine {
  Engine(Options opts, std::unique_ptr<storage::Database> database);

  /// What liveness and new deadlines go by: the wall clock, but never earlier
  /// than the cutoff.
  std::uint64_t now() const;

  /// The handle if it is alive now; throws handle_not_found or handle_expired.
  Current current(std::string_view user, std::string_view handle);

  /// The text of `version`, read through `view`; null when it is not kept.
  Text text_at(const storage::View& view, const storage::Head& head,
               std::uint64_t version) const;

  /// The time by which handles may be taken for expired, when the clock is
  /// believed (`accept`: by the operator's word); the cutoff follows it.
  /// Otherwise none, and the listener is told.
  std::optional<std::uint64_t> advance_clock(bool accept);
  /// At open: remembers the time without destroying anything by it.
  void note_clock();

  /// Removes the user's handles that expired by `time`, until `stopping` says
  /// true.
  std::uint64_t sweep_user(std::string_view user, std::uint64_t time,
                           const std::function<bool()>& stopping);
  /// Removes everybody's, then compacts.
  void sweep_all(std::uint64_t time, const std::function<bool()>& stopping);

  const Options options;
  const std::unique_ptr<storage::Database> db;
  storage::LruCache<CachedHandle> cache;
  storage::UserViews views;
  storage::ScopeViews scopes;
  /// Changes of one handle, by user and handle.
  CombiningQueue<Mutation> queue;
  /// Changes of one key-value scope.
  CombiningQueue<KvMutation> kv_queue;
  /// Mints with one request id, by user and id.
  CombiningQueue<const std::function<void()>> mints;

 private:
  /// The handle as it is on disk, kept in the cache when an epoch is given.
  Current stored(std::string_view user, std::string_view handle,
                 const std::uint64_t* epoch);
  std::uint64_t wall() const;
  std::uint64_t monotonic() const;
  bool expire(std::string_view user, std::string_view handle,
              std::uint64_t time);

  std::mutex clock_mutex_;
  storage::ClockGuard guard_;
};

/// Rebuilds a version from its material; the tree is kept when one was needed.
struct Rebuilt {
  Text text;
  std::optional<Json> tree;
};
Rebuilt rebuild(storage::Material material);

}  // namespace satchel::embedded
