// The bytes on disk (storage/FORMAT.md, "Keys and records"). The golden bytes
// are frozen with the format number: a test that fails here means that stores
// which exist can no longer be read.

#include "storage/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "storage/failure.h"

namespace satchel::storage {
namespace {

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

Head some_head() {
  Head head;
  head.status = Status::live;
  head.deadline = 1'800'000'000'000'000;
  head.ttl = 86'400'000'000;
  head.gc = 1'800'010'800'000'000;
  head.hid = 1025;
  head.version = 7;
  head.base_version = 5;
  head.oldest_base = 1;
  head.delta_bytes = 321;
  head.state_bytes = 4096;
  head.created = 1'790'000'000'000'000;
  head.updated = 1'790'000'000'000'007;
  head.kind = "research";
  head.last_writer = "laptop";
  return head;
}

LogRecord some_log() {
  return {1'800'010'800'000'000, What::patch, 1'790'000'000'000'007, "phone",
          R"([{"op":"append","path":"a","value":1}])"};
}

RequestRecord some_request() {
  RequestRecord record;
  record.deadline = 1'790'086'400'000'000;
  for (std::size_t i = 0; i < 16; ++i) {
    record.fingerprint[i] = static_cast<std::uint8_t>(i);
  }
  record.operation = Operation::save;
  record.handle = "research_abcdefgh";
  record.version = 7;
  record.created = 1;
  record.updated = 2;
  record.expires = kNever;
  record.last_writer = "w";
  return record;
}

constexpr std::uint64_t kKvDeadline = 1'790'086'400'000'000;
constexpr const char* kKvValue = R"({"a":[1,"\u0001"]})";

std::string some_kv() { return encode_kv("k", kKvDeadline, kKvValue); }

TEST(FormatTest, GoldenKeys) {
  EXPECT_EQ(hex(escaped(std::string("a\0b", 3))), "6100ff620001");
  EXPECT_EQ(hex(user_key("ab", "note_x")), "616200016e6f74655f78");
  EXPECT_EQ(hex(base_key(1025, 7, kNever)),
            "00000000000004010000000000000007ffffffffffffffff");
  EXPECT_EQ(hex(log_key(1025, 7)), "00000000000004010000000000000007");
  EXPECT_EQ(hex(scope_prefix("ab", "c\xc3\xa9") + "n:1"),
            "61620001"
            "63c3a90001"
            "6e3a31");
}

TEST(FormatTest, GoldenRecords) {
  EXPECT_EQ(hex(encode("k", some_head())),
            "b7f5e0d2561d7ff3010006651728988000000000141dd7600000066519ac"
            "536c00000000000000040100000000000000070000000000000005000000"
            "00000000010000000000000141000000000000100000065bfeda25e00000"
            "065bfeda25e0070008726573656172636800066c6170746f70");
  EXPECT_EQ(hex(encode("k", some_log())),
            "192c802e3eefac4500066519ac536c000300065bfeda25e007000570686f"
            "6e655b7b226f70223a22617070656e64222c2270617468223a2261222c22"
            "76616c7565223a317d5d");
  EXPECT_EQ(hex(encode("k", some_request())),
            "67c7c216be826c3f00065c12f7fd4000000102030405060708090a0b0c0d"
            "0e0f02001172657365617263685f61626364656667680000000000000007"
            "00000000000000010000000000000002ffffffffffffffff000177");
  EXPECT_EQ(hex(encode_base("k", "{}")), "139a5727ad086af9007b7d");
  EXPECT_EQ(hex(encode_meta("cutoff", encode_u64(5))),
            "6be38717358cb7430000000000000005");
  EXPECT_EQ(hex(some_kv()),
            "9d4f022c8e3b1d1900065c12f7fd4000007b2261223a5b312c225c753030"
            "3031225d7d");
}

TEST(FormatTest, RecordsReadBack) {
  const auto head = decode_head("k", encode("k", some_head()));
  EXPECT_EQ(encode("k", head), encode("k", some_head()));
  const auto log = decode_log("k", encode("k", some_log()));
  EXPECT_EQ(encode("k", log), encode("k", some_log()));
  const auto request = decode_request("k", encode("k", some_request()));
  EXPECT_EQ(encode("k", request), encode("k", some_request()));
  EXPECT_EQ(decode_base("k", encode_base("k", "{\"a\":1}")), "{\"a\":1}");
  EXPECT_EQ(decode_meta("k", encode_meta("k", "v")), "v");
  const auto kv = decode_kv("k", some_kv());
  EXPECT_EQ(kv.deadline, kKvDeadline);
  EXPECT_EQ(kv.value, kKvValue);
  std::uint64_t deadline = 0;
  const auto record = some_kv();
  EXPECT_EQ(peek_kv("k", record, &deadline), kKvValue);
  EXPECT_EQ(deadline, kKvDeadline);
}

/// Calls `decode` with every byte of `value` changed in turn, with every
/// shorter value and with another key; each must be found out.
template <class Decode>
void expect_all_damage_found(const std::string& value, Decode decode) {
  int points = 0;
  const auto expect_corrupt = [&](std::string_view key,
                                  const std::string& bytes) {
    ++points;
    try {
      decode(key, bytes);
      ADD_FAILURE() << "damage was not seen at point " << points;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind, Failure::Kind::corrupt);
    }
  };
  for (std::size_t i = 0; i < value.size(); ++i) {
    auto damaged = value;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    expect_corrupt("k", damaged);
    expect_corrupt("k", value.substr(0, i));
  }
  expect_corrupt("l", value);
  EXPECT_EQ(points, static_cast<int>(2 * value.size() + 1));
}

TEST(FormatTest, EveryDamagedByteIsFound) {
  expect_all_damage_found(
      encode("k", some_head()),
      [](std::string_view k, const std::string& v) { decode_head(k, v); });
  expect_all_damage_found(
      encode("k", some_log()),
      [](std::string_view k, const std::string& v) { decode_log(k, v); });
  expect_all_damage_found(
      encode("k", some_request()),
      [](std::string_view k, const std::string& v) { decode_request(k, v); });
  expect_all_damage_found(
      encode_base("k", "{}"),
      [](std::string_view k, const std::string& v) { decode_base(k, v); });
  expect_all_damage_found(
      encode_meta("k", "v"),
      [](std::string_view k, const std::string& v) { decode_meta(k, v); });
  expect_all_damage_found(
      some_kv(),
      [](std::string_view k, const std::string& v) { decode_kv(k, v); });
  expect_all_damage_found(some_kv(),
                          [](std::string_view k, const std::string& v) {
                            std::uint64_t deadline;
                            peek_kv(k, v, &deadline);
                          });
}

TEST(FormatTest, ARecordOfAnotherFamilyDoesNotVerify) {
  EXPECT_THROW(decode_meta("k", encode_base("k", "{}")), Failure);
  EXPECT_THROW(decode_log("k", encode("k", some_head())), Failure);
  EXPECT_THROW(decode_kv("k", encode("k", some_request())), Failure);
  EXPECT_THROW(decode_request("k", some_kv()), Failure);
}

TEST(FormatTest, FiltersKeepWhatDoesNotVerify) {
  std::uint64_t time = 0;
  auto log = encode("k", some_log());
  EXPECT_TRUE(log_gc("k", log, &time));
  EXPECT_EQ(time, some_log().gc);
  log.back() = static_cast<char>(log.back() ^ 1);
  EXPECT_FALSE(log_gc("k", log, &time));
  EXPECT_FALSE(log_gc("k", "", &time));

  auto request = encode("k", some_request());
  EXPECT_TRUE(request_deadline("k", request, &time));
  EXPECT_EQ(time, some_request().deadline);
  request.back() = static_cast<char>(request.back() ^ 1);
  EXPECT_FALSE(request_deadline("k", request, &time));

  EXPECT_TRUE(kv_deadline("k", some_kv(), &time));
  EXPECT_EQ(time, kKvDeadline);
  for (std::size_t i = 0; i < some_kv().size(); ++i) {
    auto kv = some_kv();
    kv[i] = static_cast<char>(kv[i] ^ 1);
    EXPECT_FALSE(kv_deadline("k", kv, &time)) << i;
    EXPECT_FALSE(kv_deadline("k", some_kv().substr(0, i), &time)) << i;
  }
  EXPECT_FALSE(kv_deadline("l", some_kv(), &time));

  auto head = some_head();
  EXPECT_FALSE(is_tombstone_before("k", encode("k", head), kNever));
  head.status = Status::revoked;
  EXPECT_TRUE(is_tombstone_before("k", encode("k", head), head.deadline));
  EXPECT_FALSE(is_tombstone_before("k", encode("k", head), head.deadline - 1));
  auto damaged = encode("k", head);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_FALSE(is_tombstone_before("k", damaged, kNever));
}

TEST(FormatTest, UserKeysSplitAndNeverMeet) {
  const std::vector<std::string> users = {"a",
                                          "ab",
                                          std::string("a\0", 2),
                                          std::string("a\0b", 3),
                                          std::string("a\0\xff", 3),
                                          "a\xff",
                                          "\x01",
                                          "b"};
  std::string user;
  std::string name;
  for (const auto& u : users) {
    ASSERT_TRUE(split_user_key(user_key(u, "note_x"), &user, &name));
    EXPECT_EQ(user, u);
    EXPECT_EQ(name, "note_x");
    for (const auto& other : users) {
      EXPECT_EQ(user_key(other, "x").starts_with(user_prefix(u)), other == u);
    }
  }
  auto keys = users;
  std::transform(users.begin(), users.end(), keys.begin(), escaped);
  auto sorted = users;
  std::sort(sorted.begin(), sorted.end());
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < users.size(); ++i) {
    EXPECT_EQ(keys[i], escaped(sorted[i]));
  }
  EXPECT_FALSE(split_user_key("no end", &user, &name));
  EXPECT_FALSE(split_user_key(std::string("a\0", 2), &user, &name));
  EXPECT_FALSE(split_user_key(std::string("a\0\x02", 3), &user, &name));
}

TEST(FormatTest, ScopesNeverMeet) {
  const std::vector<std::string> names = {"a",
                                          "ab",
                                          "b",
                                          "a:b",
                                          std::string("a\0", 2),
                                          std::string("a\0\x01", 3),
                                          std::string("\0\x01", 2),
                                          std::string("a\0\xff", 3),
                                          "a\xff",
                                          "\xff\xff",
                                          "\x01",
                                          std::string("\0", 1)};
  int pairs = 0;
  for (const auto& user : names) {
    for (const auto& app : names) {
      const auto key = scope_prefix(user, app) + "k:1";
      const auto end = prefix_end(scope_prefix(user, app));
      EXPECT_LT(key, end);
      for (const auto& other_user : names) {
        for (const auto& other_app : names) {
          const auto other = scope_prefix(other_user, other_app);
          EXPECT_EQ(key.starts_with(other),
                    user == other_user && app == other_app);
          ++pairs;
        }
      }
    }
  }
  EXPECT_EQ(pairs, 12 * 12 * 12 * 12);
}

}  // namespace
}  // namespace satchel::storage
