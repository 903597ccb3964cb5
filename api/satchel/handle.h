#pragma once
// What a handle is seen as: the values that HandleStore's calls take and give.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "satchel/clock.h"
#include "satchel/document.h"
#include "satchel/ttl.h"

namespace satchel {

/// A handle without its state.
struct HandleInfo {
  std::string handle;
  std::string kind;
  std::uint64_t version = 0;
  Time created_at{};
  Time updated_at{};
  /// None: never.
  std::optional<Time> expires_at;
  /// Free label of who wrote last; may be empty.
  std::string last_writer;
};

/// A handle at one version. get always fills `state`; mutations only on
/// request (return_state).
struct Snapshot : HandleInfo {
  std::optional<Document> state;
  /// The path that was asked for; `state` is then that subtree.
  std::optional<std::string> path;
};

struct ListPage {
  std::vector<HandleInfo> handles;
  /// Continues after this page; empty at the end. Opaque, bound to the user and
  /// the query, valid across restarts.
  std::string cursor;
};

/// What made a version.
enum class Change : std::uint8_t { mint, save, patch, touch, revert };
std::string_view name(Change what) noexcept;

struct VersionInfo {
  std::uint64_t version = 0;
  Time at{};
  std::string writer;
  Change what = Change::mint;
};

struct History {
  std::string handle;
  /// The oldest version that can be read back.
  std::uint64_t oldest = 0;
  /// Newest first, without a gap down to `oldest`.
  std::vector<VersionInfo> versions;
};

/// What happened to a handle since a version.
struct Changes {
  struct Entry : VersionInfo {
    /// A JSON array; empty for a touch.
    Document ops;
  };
  enum class Kind : std::uint8_t {
    /// `entries` lead from `since` to `version`, oldest first.
    changes,
    /// A mint, save or revert lies between: `state` is the current one.
    replaced,
    /// Not all versions since are kept: `state` is the current one, `oldest`
    /// the oldest version kept.
    too_old,
  };
  std::string handle;
  std::uint64_t since = 0;
  std::uint64_t version = 0;
  Kind kind = Kind::changes;
  std::vector<Entry> entries;
  Document state;
  std::uint64_t oldest = 0;
};

/// `user` owns the handle: 1 to 1,024 bytes of valid UTF-8 without control
/// characters, compared byte for byte. `writer`: 0 to 256 bytes of UTF-8.
/// `request_id`: 1 to 128 printable ASCII characters, or empty for none; see
/// HandleStore for what it does.
///
/// (The {} let callers leave fields out of {.user = …} without a warning.)
struct MintOptions {
  std::string user{};
  /// keep and persist both mean: never expires.
  Ttl ttl{};
  std::string writer{};
  std::string request_id{};
  bool return_state = false;
};

struct GetOptions {
  std::string user{};
  /// An old version; none: the current one.
  std::optional<std::uint64_t> version{};
  /// Only the subtree at this path (dotted, or a JSON Pointer when it begins
  /// with '/').
  std::optional<std::string> path{};
};

struct SaveOptions {
  std::string user{};
  /// Required: the version that the new state was made from.
  std::optional<std::uint64_t> expect_version{};
  std::string writer{};
  Ttl ttl{};
  std::string request_id{};
  bool return_state = false;
};

struct PatchOptions {
  std::string user{};
  std::string writer{};
  std::string request_id{};
  bool return_state = false;
};

struct TouchOptions {
  std::string user{};
  /// Required: a duration or persist.
  Ttl ttl{};
  std::string writer{};
  std::string request_id{};
  bool return_state = false;
};

struct RevokeOptions {
  std::string user{};
  std::string request_id{};
};

struct RevertOptions {
  std::string user{};
  /// Refuses with stale_write when this is not the current version.
  std::optional<std::uint64_t> expect_version{};
  std::string writer{};
  std::string request_id{};
  bool return_state = false;
};

struct ListOptions {
  /// Only handles of this kind; empty: all.
  std::string kind{};
  /// Also those whose time is over and that no sweep has removed yet.
  bool include_expired = false;
  /// 1 to 1,000.
  std::uint32_t limit = 100;
  /// From the page before; empty: from the start.
  std::string cursor{};
};

}  // namespace satchel
