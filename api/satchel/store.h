#pragma once
// Satchel: durable, user-keyed, versioned, expiring state. Start here.
//
//   auto store = satchel::HandleStore::open("/var/lib/app/state").value();
//   auto snap = store->mint("research", satchel::Json{{"sources", {}}},
//                           {.user = "alice", .ttl = 24h}).value();
//   store->patch(snap.handle, satchel::op::append("sources", "a.pdf"),
//                {.user = "alice"}).value();
//
// A state is a JSON object under a handle that its user owns. It has a version
// that rises by one with every effective write, and an expiry that its creator
// chose. README.md tells the ideas, storage/FORMAT.md the bytes.

#include <cstdint>
#include <memory>
#include <string_view>

#include "satchel/clock.h"
#include "satchel/document.h"
#include "satchel/error.h"
#include "satchel/handle.h"
#include "satchel/json.h"
#include "satchel/kv.h"
#include "satchel/options.h"
#include "satchel/patch.h"
#include "satchel/ttl.h"

namespace satchel {

/// A store of handles, and of small key-value scopes beside them. All functions
/// are thread-safe and may block on the disk.
///
/// Durability: a mutation that returned a value has survived what
/// Options::durability says, and every later read sees it. One that returned an
/// error did nothing, backend_error excepted: after it the write may be found
/// or not when the store is opened again, whole in either case.
///
/// Errors of every function: invalid_input for an argument that breaks its rule
/// (details: field), store_closed after close(), store_corrupt when bytes on
/// disk do not verify, backend_error when the disk refuses, internal_error
/// (a fault of ours, out of memory). Of every mutation too: read_only, and
/// backend_error when a write waited longer than Options::contention_time.
/// Of every call with a handle: handle_not_found, whose text, details and cost
/// are the same for a handle that is missing, another user's or revoked;
/// handle_expired for the owner, up to 30 days after the expiry.
///
/// Request ids: a mutation with a request_id that this user used before, with
/// the same operation, handle and arguments (the writer does not count), is not
/// applied again: it returns what the first call returned, for
/// Options::request_window, across restarts too. With other arguments it is
/// request_conflict. Refusals are not remembered. Over
/// Options::max_request_ids_per_user live ones: quota_exceeded.
///
/// fork(): a child must not use a store that its parent opened. exit(): a store
/// in a static variable is to be closed before main() returns.
class HandleStore {
 public:
  /// Opens the store in the folder `url` ("rocksdb:///path", taken literally,
  /// or a plain path), creating it when the folder is missing or empty.
  /// "memory:" is a store without a disk, new on every open. An empty url is
  /// the default folder, ${XDG_DATA_HOME:-$HOME/.local/share}/satchel.
  ///
  /// Errors, none of which changes a byte there (RocksDB's reason may be noted
  /// in the folder's file LOG): invalid_input(store) for
  /// options out of range and for an unusable default folder, not_a_store,
  /// format_too_new, store_locked (after Options::lock_wait),
  /// store_corrupt (the log included: see storage/FORMAT.md), backend_error
  /// (no permission, no space).
  static Result<std::unique_ptr<HandleStore>> open(std::string_view url = {},
                                                   Options options = {});

  virtual ~HandleStore() = default;

  /// Creates a handle with version 1. `kind` matches [a-z][a-z0-9-]{0,31}.
  /// Errors: state_too_large, quota_exceeded, request_conflict.
  virtual Result<Snapshot> mint(std::string_view kind, const JsonInput& state,
                                const MintOptions& options) = 0;

  /// The state now, or at an old version. Reads never renew. Errors:
  /// version_gone, invalid_input(version) above the current one,
  /// invalid_input(path) for a path that is not there.
  virtual Result<Snapshot> get(std::string_view handle,
                               const GetOptions& options) = 0;

  /// Replaces the state if the version is still the expected one. Always a new
  /// version. Errors: stale_write (details hold the current snapshot, to merge
  /// with), state_too_large, request_conflict.
  virtual Result<Snapshot> save(std::string_view handle, const JsonInput& state,
                                const SaveOptions& options) = 0;

  /// Applies one op or an array of at most 1,000 (satchel/patch.h) to the
  /// newest state, all or none; never a version conflict. A patch that changes
  /// no byte makes no version. Costs the patch, not the state. Errors:
  /// patch_error, state_too_large, request_conflict.
  virtual Result<Snapshot> patch(std::string_view handle, const JsonInput& ops,
                                 const PatchOptions& options) = 0;

  /// Sets when the handle expires: options.ttl from now, or never. A new
  /// version. Errors: request_conflict.
  virtual Result<Snapshot> touch(std::string_view handle,
                                 const TouchOptions& options) = 0;

  /// The user's handles, most recently updated first (equal times by handle).
  /// A handle that is not written to while pages are read appears exactly once.
  virtual Result<ListPage> list(std::string_view user,
                                const ListOptions& options = {}) = 0;

  /// Ends a handle and its history at once. Errors: request_conflict.
  virtual Result<void> revoke(std::string_view handle,
                              const RevokeOptions& options) = 0;

  /// Removes the user's expired handles and returns how many. While the clock
  /// is not believed (Listener::on_clock_refused) it removes none, unless
  /// `accept_clock` says that the clock is right; outside the years 2020 to
  /// 2199 it is never believed.
  virtual Result<std::uint64_t> sweep(std::string_view user,
                                      bool accept_clock = false) = 0;

  /// The versions that can be read back.
  virtual Result<History> history(std::string_view handle,
                                  std::string_view user) = 0;

  /// What happened after version `since`; 0 is before the mint. Errors:
  /// invalid_input(since) above the current version.
  virtual Result<Changes> changes_since(std::string_view handle,
                                        std::uint64_t since,
                                        std::string_view user) = 0;

  /// A new version with the state of `to_version`; the expiry is kept. Errors:
  /// version_gone, invalid_input(to_version), stale_write, request_conflict.
  virtual Result<Snapshot> revert(std::string_view handle,
                                  std::uint64_t to_version,
                                  const RevertOptions& options) = 0;

  /// The key-value entries of `user` and `app` (1 to 256 bytes of valid UTF-8
  /// without white space and control characters). Touches no disk. Errors:
  /// invalid_input(user) or (app), kv_code INVALID_CONTEXT.
  virtual Result<std::unique_ptr<KvScope>> scope(std::string_view user,
                                                 std::string_view app) = 0;

  /// Waits for running calls, makes everything acknowledged durable whatever
  /// the durability, and lets go of the folder. Later calls return
  /// store_closed. Called by the destructor; a second call does nothing.
  virtual Result<void> close() = 0;
};

}  // namespace satchel
