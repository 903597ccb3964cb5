#pragma once
// Small state beside the handles: a key-value space for each user and app,
// where everything expires and hard limits hold. For idempotency marks,
// counters, nonces, small preferences. The semantics are those of the client
// library @guuey/state.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "satchel/clock.h"
#include "satchel/document.h"
#include "satchel/error.h"
#include "satchel/ttl.h"

namespace satchel {

struct KvEntry {
  /// Any JSON value.
  Document value;
  Time expires_at{};
};

struct KvKey {
  std::string key;
  Time expires_at{};
};

struct KvPage {
  std::vector<KvKey> keys;
  /// Continues after this page; empty at the end. Opaque, bound to the scope
  /// and the prefix, valid across restarts.
  std::string cursor;
};

struct KvUsage {
  std::string user;
  std::string app;
  /// Bytes of all keys and their values' canonical text.
  std::uint64_t used_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::uint64_t key_count = 0;
};

// (The {} let callers leave fields out of {.ttl = …} without a warning.)

/// A value that a caller hands in: JSON, or a plain number, bool or string. A
/// string is a JSON string, never parsed: for JSON text write
/// Document::parse(text).
struct KvValue : JsonInput {
  using JsonInput::JsonInput;
  KvValue(JsonInput input) : JsonInput(std::move(input)) {}  // NOLINT
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, char>) ||
      (std::is_convertible_v<const T&, std::string_view> &&
       !std::is_same_v<T, Json>)
          KvValue(const T& plain)  // NOLINT: implicit on purpose
      : JsonInput(Json(plain)) {}
};

struct KvSetOptions {
  /// Required: a duration.
  Ttl ttl{};
  /// Only when the key is not there.
  bool if_absent = false;
  /// Only when the key holds this value: the same bytes of canonical text.
  std::optional<KvValue> expect_value{};
};

struct KvCounterOptions {
  std::int64_t by = 1;
  /// Required: a duration.
  Ttl ttl{};
};

struct KvKeysOptions {
  /// Only keys that begin with this; empty: all keys of the scope.
  std::string prefix{};
  /// 1 to 1,000.
  std::uint32_t limit = 1000;
  /// From the page before; empty: from the start.
  std::string cursor{};
  /// Instead of a cursor: only keys behind this one in the order of bytes.
  std::string after{};
};

/// Adds to the error the kv_code that belongs to it, if there is one; for
/// callers that check arguments of their own before a call.
Error with_kv_code(Error error);

/// The entries of one user and one app. Thread-safe. Cheap to make; must not
/// be used after its store was destroyed (after close() calls are refused with
/// store_closed).
///
/// A key is 1 to Options::kv_max_key_bytes (1,024) characters of
/// A-Z a-z 0-9 _ . : - / ; a ttl is a duration of a millisecond to
/// Options::kv_max_ttl (90 days), counted from the moment the call is served.
/// What expired is absent for every call, at once, and counts nothing. (While a
/// clock that went back says so, what had expired may be there again, and a
/// scope over its limit.)
///
/// Durability is that of HandleStore's mutations: what was acknowledged has
/// survived what Options::durability says. Every mutation is atomic, and every
/// call sees all that was acknowledged before it. No mutation takes a request
/// id: repeat a set, not an increment.
///
/// Errors of every call carry, beside the library's code, the original's as
/// details.kv_code: invalid_input for key (INVALID_KEY; details: reason, and
/// key where it can be shown), ttl (INVALID_TTL; reason) and every other
/// argument (INVALID_ARGUMENT). condition_failed, and the errors that
/// HandleStore names for every call and occur here too, have none. A damaged
/// record is store_corrupt for whoever reads it, and for every call but get,
/// mget and has of other keys: what the scope holds cannot be known.
class KvScope {
 public:
  virtual ~KvScope() = default;

  /// The entry; none when it is absent.
  virtual Result<std::optional<KvEntry>> get(std::string_view key) = 0;

  /// Stores `value` and returns when it expires. Errors: value_too_large
  /// (VALUE_TOO_LARGE; valueBytes, limitBytes) over Options::kv_max_value_bytes
  /// (64 KiB) of canonical text; quota_exceeded (QUOTA_EXCEEDED; usedBytes,
  /// limitBytes) when the scope would grow beyond Options::kv_max_scope_bytes
  /// (1 MiB): a value that is no larger than the one it replaces always fits;
  /// condition_failed when if_absent or expect_value does not hold.
  virtual Result<Time> set(std::string_view key, const KvValue& value,
                           const KvSetOptions& options) = 0;

  /// Whether it was there.
  virtual Result<bool> remove(std::string_view key) = 0;

  /// Removes all keys that begin with `prefix` (empty: every key of the scope),
  /// all or none, and returns how many.
  virtual Result<std::uint64_t> remove_prefix(std::string_view prefix) = 0;

  /// Whether it is there; its value is neither parsed nor copied.
  virtual Result<bool> has(std::string_view key) = 0;

  /// Keys in the order of their bytes. A key that is there all the time while
  /// pages are read appears exactly once. Costs the page, not what was deleted
  /// around it, once the scope is in memory (Options::index_bytes); the first
  /// call on a scope, like the first set, reads all of it.
  virtual Result<KvPage> keys(const KvKeysOptions& options = {}) = 0;

  /// Adds to a counter, an integer within ±(2^53 − 1), absent ones from 0;
  /// returns the new value and sets its ttl anew. Errors: type_mismatch
  /// (TYPE_MISMATCH; actual: string, object, array, boolean, number for a real,
  /// null); invalid_input(by) for a step or a result outside the range;
  /// quota_exceeded. After an error nothing has changed.
  virtual Result<std::int64_t> increment(std::string_view key,
                                         const KvCounterOptions& options) = 0;
  /// The same, subtracting.
  Result<std::int64_t> decrement(std::string_view key,
                                 const KvCounterOptions& options);

  /// The entries of at most 100 keys at one moment; absent ones are left out.
  virtual Result<std::map<std::string, KvEntry>> mget(
      const std::vector<std::string>& keys) = 0;

  /// What the scope holds now.
  virtual Result<KvUsage> usage() = 0;
};

}  // namespace satchel
