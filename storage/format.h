#pragma once
// The bytes of keys and records (FORMAT.md, "Keys and records"): everything
// that encodes or decodes them is here. Names no RocksDB type.
//
// Integers are big-endian. Times are microseconds since 1970. Enum values are
// on disk: never renumber, never reuse.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace satchel::storage {

/// A deadline that never comes.
inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

/// How long after its end a handle's owner is told what became of it: 30 days.
inline constexpr std::uint64_t kHorizon = 30ull * 24 * 3600 * 1'000'000;

/// On disk: part of every checksum.
enum class Family : std::uint8_t {
  meta = 1,
  head = 2,
  base = 3,
  log = 4,
  kv = 5,
  request = 6,
};

/// On disk.
enum class Status : std::uint8_t { live = 1, expired = 2, revoked = 3 };

/// On disk.
enum class What : std::uint8_t {
  mint = 1,
  save = 2,
  patch = 3,
  touch = 4,
  revert = 5,
};

/// On disk: what a remembered request id did.
enum class Operation : std::uint8_t {
  mint = 1,
  save = 2,
  patch = 3,
  touch = 4,
  revert = 5,
  revoke = 6,
};

/// One handle of one user. A tombstone (status not live) keeps what tells the
/// owner how it ended, and the version that a later life must start above.
struct Head {
  Status status = Status::live;
  /// End of visibility; of a tombstone: when it ended.
  std::uint64_t deadline = kNever;
  /// The lifetime that was asked for; kNever for none.
  std::uint64_t ttl = kNever;
  /// Invariant: gc >= deadline, and the current base and the log records above
  /// it carry the same number.
  std::uint64_t gc = kNever;
  /// Incarnation; never reused.
  std::uint64_t hid = 0;
  std::uint64_t version = 0;
  /// Version of the current base.
  std::uint64_t base_version = 0;
  /// Version of the oldest base that was not dropped.
  std::uint64_t oldest_base = 0;
  /// Bytes of ops logged above the current base.
  std::uint64_t delta_bytes = 0;
  /// Canonical bytes of the current state.
  std::uint64_t state_bytes = 0;
  std::uint64_t created = 0;
  std::uint64_t updated = 0;
  std::string kind;
  std::string last_writer;
};

struct LogRecord {
  std::uint64_t gc = kNever;
  What what = What::mint;
  std::uint64_t time = 0;
  std::string writer;
  /// Canonical JSON array; empty unless what is patch.
  std::string ops;
};

using Fingerprint = std::array<std::uint8_t, 16>;

/// What a request id did, to answer its retries.
struct RequestRecord {
  std::uint64_t deadline = 0;
  Fingerprint fingerprint{};
  Operation operation = Operation::mint;
  std::string handle;
  std::uint64_t version = 0;
  std::uint64_t created = 0;
  std::uint64_t updated = 0;
  std::uint64_t expires = kNever;
  std::string last_writer;
};

/// One entry of a key-value scope.
struct KvRecord {
  std::uint64_t deadline = 0;
  /// Canonical JSON, of any type.
  std::string value;
};

// ---- keys

/// E(s): 00 becomes 00 FF, 00 01 ends it. Order-preserving, prefix-safe,
/// injective.
std::string escaped(std::string_view s);
/// Everything of `user` in the head and request families begins with this.
std::string user_prefix(std::string_view user);
std::string user_key(std::string_view user, std::string_view name);
/// Splits a key of head or request; false when it is none.
bool split_user_key(std::string_view key, std::string* user, std::string* name);
/// Everything of the scope (`user`, `app`) in the kv family begins with this,
/// nothing else does.
std::string scope_prefix(std::string_view user, std::string_view app);
std::string base_key(std::uint64_t hid, std::uint64_t version,
                     std::uint64_t gc);
std::string log_key(std::uint64_t hid, std::uint64_t version);
/// The smallest key greater than every key that begins with `prefix`.
std::string prefix_end(std::string prefix);

struct BaseKey {
  std::uint64_t hid;
  std::uint64_t version;
  std::uint64_t gc;
};
bool decode_base_key(std::string_view key, BaseKey* out);
bool decode_log_key(std::string_view key, std::uint64_t* hid,
                    std::uint64_t* version);

// ---- records: checksum (u64), then the body. The decoders throw Failure with
// kind corrupt for bytes that do not verify or do not decode.

std::string encode(std::string_view key, const Head& head);
std::string encode(std::string_view key, const LogRecord& record);
std::string encode(std::string_view key, const RequestRecord& record);
/// `value` is canonical JSON.
std::string encode_kv(std::string_view key, std::uint64_t deadline,
                      std::string_view value);
std::string encode_base(std::string_view key, std::string_view text);
std::string encode_meta(std::string_view key, std::string_view value);

Head decode_head(std::string_view key, std::string_view value);
LogRecord decode_log(std::string_view key, std::string_view value);
RequestRecord decode_request(std::string_view key, std::string_view value);
KvRecord decode_kv(std::string_view key, std::string_view value);
/// The same without copying: where the text lies in `value`, and the deadline.
std::string_view peek_kv(std::string_view key, std::string_view value,
                         std::uint64_t* deadline);
/// The text inside `value`.
std::string_view decode_base(std::string_view key, std::string_view value);
std::string_view decode_meta(std::string_view key, std::string_view value);

std::string encode_u64(std::uint64_t n);
std::uint64_t decode_u64(std::string_view bytes);

// ---- what the expiry filters ask; false for whatever does not verify.

/// A tombstone that ended at or before `time`.
bool is_tombstone_before(std::string_view key, std::string_view value,
                         std::uint64_t time);
bool log_gc(std::string_view key, std::string_view value, std::uint64_t* gc);
bool kv_deadline(std::string_view key, std::string_view value,
                 std::uint64_t* deadline);
bool request_deadline(std::string_view key, std::string_view value,
                      std::uint64_t* deadline);

}  // namespace satchel::storage
