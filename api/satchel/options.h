#pragma once
// How a store is opened. Every field has a default that works.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "satchel/clock.h"
#include "satchel/error.h"

namespace satchel {

/// What an acknowledged write has survived when the call returns.
enum class Durability : std::uint8_t {
  /// A power loss: the log is on disk (fdatasync, shared between threads that
  /// write at once).
  sync,
  /// A crash of this process at once; a power loss from Options::sync_interval
  /// later on. A power loss takes a suffix of the newest writes, never a
  /// middle.
  interval,
  /// A crash of this process; a power loss takes a suffix of what the operating
  /// system had not written yet.
  os,
};

/// Told of what happens in the background. Called from any thread, several at
/// once; must be quick, must not throw and must not call the store.
class Listener {
 public:
  virtual ~Listener() = default;
  /// A background write, flush or compaction failed; the store may be
  /// read_only from now on.
  virtual void on_background_error(const Error&) {}
  /// Nothing is reclaimed because the clock is not believed; `reason` is a
  /// sentence. `sweep` with accept_clock ends it.
  virtual void on_clock_refused(const std::string& reason) { (void)reason; }
  /// The log ended in `bytes` that never became a whole record: the trace of a
  /// crash. Everything before them was kept.
  virtual void on_bytes_dropped(std::uint64_t bytes) { (void)bytes; }
  /// A store that ran with interval or os lost acknowledged writes to a power
  /// loss: the log has a gap and the store opened at it.
  virtual void on_gap(std::uint64_t bytes) { (void)bytes; }
  /// A sweep removed `removed` expired handles.
  virtual void on_sweep(std::uint64_t removed) { (void)removed; }
  /// A compaction read `bytes_in` and wrote `bytes_out`.
  virtual void on_compaction(std::uint64_t bytes_in, std::uint64_t bytes_out) {
    (void)bytes_in, (void)bytes_out;
  }
};

struct Options {
  /// See Durability. Applies to every write of this open store.
  Durability durability = Durability::sync;
  /// Longest time between two synced writes under Durability::interval; 1 ms to
  /// 1 h.
  std::chrono::milliseconds sync_interval{100};

  /// Opens without writing a byte, beside any owner, and shows the store as it
  /// is at that moment; a missing store is empty. Writes are refused with
  /// read_only.
  bool read_only = false;

  /// What the users of this store stand for, a word for the servers that open
  /// it ("user": a person; else 1 to 64 bytes of their own). Fixed when the
  /// store is made, "user" when it is empty then; another word is refused as
  /// invalid_input(store) by a later open, an empty one asks nothing.
  std::string identity{};

  /// Cap of a state in bytes of canonical text; 2 to 1 GiB.
  std::size_t max_state_bytes = std::size_t{1} << 20;
  /// Live handles a user may hold; expired ones do not count; 1 to 1,000,000.
  std::uint32_t max_handles_per_user = 10'000;
  /// Versions kept: the newest `history_versions` (1 to 1,000) as long as the
  /// bytes newer than a version stay within `history_bytes`. More may be kept.
  std::uint32_t history_versions = 32;
  std::size_t history_bytes = std::size_t{1} << 20;
  /// How long a request id is remembered; 1 s to 30 days.
  std::chrono::seconds request_window{24 * 3600};
  /// Request ids remembered for a user at once; 1 to 1,000,000.
  std::uint32_t max_request_ids_per_user = 10'000;

  /// Limits of a key-value scope (one user and one app): bytes of all live keys
  /// and values (64 to 1 GiB), of a value's canonical text (32 to 16 MiB), of a
  /// key (1 to 8 KiB); the longest ttl (1 ms to 36,500 days).
  std::size_t kv_max_scope_bytes = std::size_t{1} << 20;
  std::size_t kv_max_value_bytes = std::size_t{64} << 10;
  std::size_t kv_max_key_bytes = 1024;
  std::chrono::milliseconds kv_max_ttl{std::chrono::hours(24 * 90)};

  /// Longest time that a write waits for others on the same handle or
  /// key-value scope; 0 to 10 min.
  std::chrono::milliseconds contention_time{5'000};
  /// How long open() waits for a store that another open holds to become free,
  /// before it is store_locked; 0 to 10 min.
  std::chrono::milliseconds lock_wait{0};

  /// Memory for cached documents, and for the indexes behind list and behind
  /// key-value scopes, each.
  /// More makes reads of many handles quicker; nothing breaks at 0.
  std::size_t cache_bytes = std::size_t{64} << 20;
  std::size_t index_bytes = std::size_t{64} << 20;

  /// Whether a thread of the store reclaims what expired, every
  /// `sweep_interval` (1 s to 1 day). For programs that live long.
  bool sweeper = true;
  std::chrono::seconds sweep_interval{300};

  /// Threads of an AsyncHandleStore; 1 to 256.
  int workers = 4;

  /// Source of time; null is the system's clock.
  std::shared_ptr<const Clock> clock{};
  /// Told of background events; null tells nobody.
  std::shared_ptr<Listener> listener{};

  /// invalid_input(store) naming every field that is out of its range.
  Result<void> validate() const;
};

}  // namespace satchel
