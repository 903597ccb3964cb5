#include "storage/format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstring>
#include <utility>

#include "storage/failure.h"

namespace satchel::storage {
namespace {

constexpr std::size_t kChecksumBytes = 8;
/// On disk: how a base or kv record holds its text. 0: as it is.
constexpr std::uint8_t kPlainText = 0;

std::uint64_t to_big_endian(std::uint64_t n) {
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap64(n);
}

void put_u8(std::string* out, std::uint8_t n) {
  out->push_back(static_cast<char>(n));
}

void put_u64(std::string* out, std::uint64_t n) {
  n = to_big_endian(n);
  out->append(reinterpret_cast<const char*>(&n), sizeof n);
}

/// A string of at most 65,535 bytes, its length before it.
void put_string(std::string* out, std::string_view s) {
  put_u8(out, static_cast<std::uint8_t>(s.size() >> 8));
  put_u8(out, static_cast<std::uint8_t>(s.size() & 0xff));
  out->append(s);
}

std::uint64_t load_u64(const char* p) {
  std::uint64_t n;
  std::memcpy(&n, p, sizeof n);
  return to_big_endian(n);
}

std::uint64_t checksum(Family family, std::string_view key,
                       std::string_view body) {
  const auto seed = XXH3_64bits_withSeed(key.data(), key.size(),
                                         static_cast<XXH64_hash_t>(family));
  return XXH3_64bits_withSeed(body.data(), body.size(), seed);
}

/// The room for the checksum; seal() fills it in.
std::string unsealed(std::size_t reserve) {
  std::string value;
  value.reserve(kChecksumBytes + reserve);
  value.append(kChecksumBytes, '\0');
  return value;
}

std::string seal(Family family, std::string_view key, std::string value) {
  const auto body = std::string_view(value).substr(kChecksumBytes);
  const auto sum = to_big_endian(checksum(family, key, body));
  std::memcpy(value.data(), &sum, sizeof sum);
  return value;
}

bool verifies(Family family, std::string_view key, std::string_view value) {
  return value.size() > kChecksumBytes &&
         load_u64(value.data()) ==
             checksum(family, key, value.substr(kChecksumBytes));
}

[[noreturn]] void corrupt(const char* what) {
  throw Failure(Failure::Kind::corrupt,
                std::string("a stored record does not verify (") + what +
                    "): the store is damaged");
}

/// Reads a verified body front to back.
class Body {
 public:
  Body(Family family, const char* what, std::string_view key,
       std::string_view value)
      : what_(what) {
    if (!verifies(family, key, value)) corrupt(what);
    rest_ = value.substr(kChecksumBytes);
  }

  std::uint8_t u8() { return static_cast<std::uint8_t>(take(1)[0]); }
  std::uint64_t u64() { return load_u64(take(8).data()); }
  std::string_view string() {
    const auto high = u8();
    const auto low = u8();
    return take(static_cast<std::size_t>(high) << 8 | low);
  }
  std::string_view take(std::size_t n) {
    if (rest_.size() < n) corrupt(what_);
    const auto taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  std::string_view rest() { return std::exchange(rest_, {}); }
  /// An enum whose values are 1 to `last`.
  template <class Enum>
  Enum one_of(Enum last) {
    const auto n = u8();
    if (n < 1 || n > static_cast<std::uint8_t>(last)) corrupt(what_);
    return static_cast<Enum>(n);
  }
  void finish() {
    if (!rest_.empty()) corrupt(what_);
  }

 private:
  const char* what_;
  std::string_view rest_;
};

}  // namespace

std::string escaped(std::string_view s) {
  std::string out;
  out.reserve(s.size() + 2);
  for (const char c : s) {
    out.push_back(c);
    if (c == '\0') out.push_back('\xff');
  }
  out.append({'\0', '\x01'});
  return out;
}

std::string user_prefix(std::string_view user) { return escaped(user); }

std::string user_key(std::string_view user, std::string_view name) {
  auto key = escaped(user);
  key.append(name);
  return key;
}

std::string scope_prefix(std::string_view user, std::string_view app) {
  return escaped(user) + escaped(app);
}

bool split_user_key(std::string_view key, std::string* user,
                    std::string* name) {
  user->clear();
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] != '\0') {
      user->push_back(key[i]);
      continue;
    }
    if (++i == key.size()) return false;
    if (key[i] == '\x01') {
      name->assign(key.substr(i + 1));
      return true;
    }
    if (key[i] != '\xff') return false;
    user->push_back('\0');
  }
  return false;
}

std::string base_key(std::uint64_t hid, std::uint64_t version,
                     std::uint64_t gc) {
  std::string key;
  put_u64(&key, hid);
  put_u64(&key, version);
  put_u64(&key, gc);
  return key;
}

std::string log_key(std::uint64_t hid, std::uint64_t version) {
  std::string key;
  put_u64(&key, hid);
  put_u64(&key, version);
  return key;
}

std::string prefix_end(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

bool decode_base_key(std::string_view key, BaseKey* out) {
  if (key.size() != 24) return false;
  out->hid = load_u64(key.data());
  out->version = load_u64(key.data() + 8);
  out->gc = load_u64(key.data() + 16);
  return true;
}

bool decode_log_key(std::string_view key, std::uint64_t* hid,
                    std::uint64_t* version) {
  if (key.size() != 16) return false;
  *hid = load_u64(key.data());
  *version = load_u64(key.data() + 8);
  return true;
}

std::string encode(std::string_view key, const Head& head) {
  auto value = unsealed(160 + head.last_writer.size());
  put_u8(&value, static_cast<std::uint8_t>(head.status));
  for (const auto n : {head.deadline, head.ttl, head.gc, head.hid, head.version,
                       head.base_version, head.oldest_base, head.delta_bytes,
                       head.state_bytes, head.created, head.updated}) {
    put_u64(&value, n);
  }
  put_string(&value, head.kind);
  put_string(&value, head.last_writer);
  return seal(Family::head, key, std::move(value));
}

std::string encode(std::string_view key, const LogRecord& record) {
  auto value = unsealed(20 + record.writer.size() + record.ops.size());
  put_u64(&value, record.gc);
  put_u8(&value, static_cast<std::uint8_t>(record.what));
  put_u64(&value, record.time);
  put_string(&value, record.writer);
  value.append(record.ops);
  return seal(Family::log, key, std::move(value));
}

std::string encode(std::string_view key, const RequestRecord& record) {
  auto value = unsealed(120 + record.last_writer.size());
  put_u64(&value, record.deadline);
  value.append(reinterpret_cast<const char*>(record.fingerprint.data()),
               record.fingerprint.size());
  put_u8(&value, static_cast<std::uint8_t>(record.operation));
  put_string(&value, record.handle);
  for (const auto n :
       {record.version, record.created, record.updated, record.expires}) {
    put_u64(&value, n);
  }
  put_string(&value, record.last_writer);
  return seal(Family::request, key, std::move(value));
}

std::string encode_kv(std::string_view key, std::uint64_t deadline,
                      std::string_view text) {
  auto value = unsealed(9 + text.size());
  put_u64(&value, deadline);
  put_u8(&value, kPlainText);
  value.append(text);
  return seal(Family::kv, key, std::move(value));
}

std::string encode_base(std::string_view key, std::string_view text) {
  auto value = unsealed(1 + text.size());
  put_u8(&value, kPlainText);
  value.append(text);
  return seal(Family::base, key, std::move(value));
}

std::string encode_meta(std::string_view key, std::string_view bytes) {
  auto value = unsealed(bytes.size());
  value.append(bytes);
  return seal(Family::meta, key, std::move(value));
}

Head decode_head(std::string_view key, std::string_view value) {
  Body body(Family::head, "head", key, value);
  Head head;
  head.status = body.one_of(Status::revoked);
  for (auto* n : {&head.deadline, &head.ttl, &head.gc, &head.hid, &head.version,
                  &head.base_version, &head.oldest_base, &head.delta_bytes,
                  &head.state_bytes, &head.created, &head.updated}) {
    *n = body.u64();
  }
  head.kind = body.string();
  head.last_writer = body.string();
  body.finish();
  return head;
}

LogRecord decode_log(std::string_view key, std::string_view value) {
  Body body(Family::log, "log", key, value);
  LogRecord record;
  record.gc = body.u64();
  record.what = body.one_of(What::revert);
  record.time = body.u64();
  record.writer = body.string();
  record.ops = body.rest();
  return record;
}

RequestRecord decode_request(std::string_view key, std::string_view value) {
  Body body(Family::request, "request", key, value);
  RequestRecord record;
  record.deadline = body.u64();
  const auto fingerprint = body.take(record.fingerprint.size());
  std::memcpy(record.fingerprint.data(), fingerprint.data(),
              fingerprint.size());
  record.operation = body.one_of(Operation::revoke);
  record.handle = body.string();
  for (auto* n :
       {&record.version, &record.created, &record.updated, &record.expires}) {
    *n = body.u64();
  }
  record.last_writer = body.string();
  body.finish();
  return record;
}

std::string_view peek_kv(std::string_view key, std::string_view value,
                         std::uint64_t* deadline) {
  Body body(Family::kv, "kv", key, value);
  *deadline = body.u64();
  if (body.u8() != kPlainText) corrupt("kv");
  return body.rest();
}

KvRecord decode_kv(std::string_view key, std::string_view value) {
  KvRecord record;
  record.value = peek_kv(key, value, &record.deadline);
  return record;
}

std::string_view decode_base(std::string_view key, std::string_view value) {
  Body body(Family::base, "base", key, value);
  if (body.u8() != kPlainText) corrupt("base");
  return body.rest();
}

std::string_view decode_meta(std::string_view key, std::string_view value) {
  return Body(Family::meta, "meta", key, value).rest();
}

std::string encode_u64(std::uint64_t n) {
  std::string bytes;
  put_u64(&bytes, n);
  return bytes;
}

std::uint64_t decode_u64(std::string_view bytes) {
  if (bytes.size() != 8) corrupt("number");
  return load_u64(bytes.data());
}

bool is_tombstone_before(std::string_view key, std::string_view value,
                         std::uint64_t time) {
  if (value.size() < kChecksumBytes + 9) return false;
  const auto* body = value.data() + kChecksumBytes;
  return body[0] != static_cast<char>(Status::live) &&
         load_u64(body + 1) <= time && verifies(Family::head, key, value);
}

bool log_gc(std::string_view key, std::string_view value, std::uint64_t* gc) {
  if (value.size() < kChecksumBytes + 8) return false;
  *gc = load_u64(value.data() + kChecksumBytes);
  return verifies(Family::log, key, value);
}

bool kv_deadline(std::string_view key, std::string_view value,
                 std::uint64_t* deadline) {
  if (value.size() < kChecksumBytes + 8) return false;
  *deadline = load_u64(value.data() + kChecksumBytes);
  return verifies(Family::kv, key, value);
}

bool request_deadline(std::string_view key, std::string_view value,
                      std::uint64_t* deadline) {
  if (value.size() < kChecksumBytes + 8) return false;
  *deadline = load_u64(value.data() + kChecksumBytes);
  return verifies(Family::request, key, value);
}

}  // namespace satchel::storage
