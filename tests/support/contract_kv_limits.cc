// Contract: the hard limits of key-value scopes, to the byte.

#include "tests/support/contract.h"

namespace satchel::test {

void contract_kv_limits() {}

namespace {
/// A JSON string of so many bytes of canonical text.
KvValue text_of(std::size_t bytes) {
  return KvValue(std::string(bytes - 2, 'v'));
}

constexpr std::size_t kScope = 1000;

void expect_full(const Error& error, std::uint64_t used) {
  EXPECT_EQ(error.details.value("usedBytes", 0u), used);
  EXPECT_EQ(error.details.value("limitBytes", 0u), kScope);
}

/// A scope of kScope bytes.
class SmallScope {
 public:
  explicit SmallScope(StoreFixture& fixture) : fixture_(fixture) {
    fixture.options.kv_max_scope_bytes = kScope;
    fixture.close();
    fixture.open();
  }
  /// Sets `key` so that it takes `bytes`, the key included.
  Result<Time> set(const std::string& key, std::size_t bytes, Ttl ttl = 1h) {
    return fixture_.kv()->set(key, text_of(bytes - key.size()), {.ttl = ttl});
  }
  void refused(const std::string& key, std::size_t bytes) {
    const auto used = fixture_.used_bytes();
    const auto before = fixture_.value_of(key);
    expect_full(expect_kv_error(set(key, bytes), ErrorCode::quota_exceeded,
                                "QUOTA_EXCEEDED"),
                used);
    EXPECT_EQ(fixture_.used_bytes(), used);
    EXPECT_EQ(fixture_.value_of(key), before);
  }

 private:
  StoreFixture& fixture_;
};
}  // namespace

TEST_P(Contract, KvValueLimitIsExact) {
  constexpr std::size_t kMost = 64 << 10;
  EXPECT_TRUE(kv()->set("k", text_of(kMost), {.ttl = 1h}).ok());
  const auto error =
      expect_kv_error(kv()->set("k", text_of(kMost + 1), {.ttl = 1h}),
                      ErrorCode::value_too_large, "VALUE_TOO_LARGE");
  EXPECT_EQ(error.details.value("valueBytes", 0u), kMost + 1);
  EXPECT_EQ(error.details.value("limitBytes", 0u), kMost);
  EXPECT_EQ(value_of("k")->size(), kMost);
  // Bytes count, not characters: é is two.
  std::string accents;
  while (accents.size() < kMost - 2) accents += "é";
  EXPECT_TRUE(kv()->set("u", accents, {.ttl = 1h}).ok());
  expect_kv_error(kv()->set("u", accents + "é", {.ttl = 1h}),
                  ErrorCode::value_too_large, "VALUE_TOO_LARGE");
  // White space that is not stored does not count.
  const auto spaced = "[" + std::string(kMost, ' ') + "]";
  EXPECT_TRUE(kv()->set("s", Document::parse(spaced), {.ttl = 1h}).ok());
  EXPECT_EQ(used_bytes(), 1 + kMost + 1 + kMost + 3);
}

TEST_P(Contract, KvScopeLimitIsAMebibyte) {
  constexpr std::size_t kEach = 64 << 10;
  for (int i = 0; i < 15; ++i)
    put("key" + std::to_string(10 + i), text_of(kEach - 5));
  put("last", text_of(kEach - 4));
  EXPECT_EQ(used_bytes(), 1u << 20);
  expect_kv_error(kv()->set("x", 1, {.ttl = 1h}), ErrorCode::quota_exceeded,
                  "QUOTA_EXCEEDED");
  expect_kv_error(kv()->increment("x", {.ttl = 1h}), ErrorCode::quota_exceeded,
                  "QUOTA_EXCEEDED");
  // Every scope has its own.
  EXPECT_TRUE(kv("other")->set("x", 1, {.ttl = 1h}).ok());
  EXPECT_TRUE(kv(kApp, "bob")->set("x", 1, {.ttl = 1h}).ok());
}

TEST_P(Contract, KvScopeLimitIsExactToTheByte) {
  SmallScope scope(*this);
  EXPECT_TRUE(scope.set("a", 500).ok());
  scope.refused("b", 501);
  EXPECT_TRUE(scope.set("b", 499).ok());
  scope.refused("c", 3);
  scope.refused("longer-than-the-rest", 30);
  scope.refused("b", 501);
  EXPECT_TRUE(scope.set("b", 500).ok());
  EXPECT_EQ(used_bytes(), kScope);
  EXPECT_TRUE(kv()->remove("a").value());
  EXPECT_TRUE(scope.set("c", 3).ok());
  scope.refused("d", 498);
  EXPECT_TRUE(scope.set("d", 497).ok());
  EXPECT_EQ(used_bytes(), kScope);
}

TEST_P(Contract, KvOverwritesCountTheDifference) {
  SmallScope scope(*this);
  EXPECT_TRUE(scope.set("a", 400).ok());
  EXPECT_TRUE(scope.set("b", 600).ok());
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(scope.set("b", 600).ok()) << "the same size fits at the cap";
    EXPECT_TRUE(scope.set("b", 590).ok());
    EXPECT_EQ(used_bytes(), 990u);
    EXPECT_TRUE(scope.set("a", 410).ok());
    scope.refused("a", 411);
    scope.refused("b", 591);
    EXPECT_TRUE(scope.set("a", 400).ok());
    EXPECT_TRUE(scope.set("b", 600).ok());
    EXPECT_EQ(used_bytes(), kScope);
  }
}

TEST_P(Contract, KvCountersKeepTheScopeLimit) {
  SmallScope scope(*this);
  add("n", 8);
  EXPECT_TRUE(scope.set("a", kScope - 2).ok());
  EXPECT_EQ(add("n"), 9);
  advance(1min);
  expect_full(expect_kv_error(kv()->increment("n", {.ttl = 1h}),
                              ErrorCode::quota_exceeded, "QUOTA_EXCEEDED"),
              kScope);
  EXPECT_EQ(value_of("n"), "9");
  EXPECT_EQ(kv()->get("n").value()->expires_at, clock->now() + 59min);
  expect_kv_error(kv()->decrement("n", {.by = 10, .ttl = 1h}),
                  ErrorCode::quota_exceeded, "QUOTA_EXCEEDED");
  EXPECT_EQ(add("n", -9), 0);
  EXPECT_EQ(used_bytes(), kScope);
}

TEST_P(Contract, KvExpiryMakesRoomAtOnce) {
  SmallScope scope(*this);
  EXPECT_TRUE(scope.set("a", 600, 1min).ok());
  EXPECT_TRUE(scope.set("b", 400, 1h).ok());
  advance(1min - 1us);
  scope.refused("c", 600);
  advance(1us);
  EXPECT_EQ(used_bytes(), 400u);
  EXPECT_TRUE(scope.set("c", 600).ok());
  scope.refused("a", 600);
  if (keeps()) reopen();
  EXPECT_EQ(used_bytes(), kScope);
  scope.refused("a", 600);
}

/// Also what a limit that was lowered leaves, in a store that keeps nothing.
TEST_P(Contract, KvShrinkingAndDeletingWorkBeyondTheLimit) {
  SmallScope scope(*this);
  EXPECT_TRUE(scope.set("a", 1000, 1min).ok());
  advance(1min);
  EXPECT_TRUE(scope.set("b", 600, 1h).ok());
  EXPECT_TRUE(scope.set("c", 398, 1h).ok());
  add("n", 3);
  clock->step(-30s);  // "a" lives again
  EXPECT_EQ(used_bytes(), 2000u);
  scope.refused("new", 6);
  scope.refused("b", 601);
  EXPECT_TRUE(scope.set("b", 600).ok());
  EXPECT_TRUE(scope.set("b", 599).ok());
  EXPECT_EQ(add("n", 5), 8);
  expect_full(expect_kv_error(kv()->increment("n", {.by = 2, .ttl = 1h}),
                              ErrorCode::quota_exceeded, "QUOTA_EXCEEDED"),
              1999u);
  EXPECT_FALSE(kv()->remove("absent").value());
  EXPECT_TRUE(kv()->remove("c").value());
  EXPECT_EQ(used_bytes(), 1601u);
  scope.refused("new", 6);
  EXPECT_EQ(kv()->remove_prefix("a").value(), 1u);
  EXPECT_EQ(used_bytes(), 601u);
  EXPECT_TRUE(scope.set("new", 399).ok());
  EXPECT_EQ(used_bytes(), kScope);
}

TEST_P(Contract, KvLimitsAreOptions) {
  options.kv_max_key_bytes = 4;
  options.kv_max_value_bytes = 32;
  options.kv_max_scope_bytes = 64;
  options.kv_max_ttl = 5s;
  open_with_options();
  EXPECT_EQ(kv()->usage().value().limit_bytes, 64u);
  EXPECT_TRUE(kv()->set("1234", text_of(32), {.ttl = 5s}).ok());
  expect_kv_error(kv()->set("12345", 1, {.ttl = 5s}), ErrorCode::invalid_input,
                  "INVALID_KEY", "key");
  expect_kv_error(kv()->has("12345"), ErrorCode::invalid_input, "INVALID_KEY",
                  "key");
  expect_kv_error(kv()->keys({.prefix = "12345"}), ErrorCode::invalid_input,
                  "INVALID_ARGUMENT", "prefix");
  expect_kv_error(kv()->set("k", text_of(33), {.ttl = 5s}),
                  ErrorCode::value_too_large, "VALUE_TOO_LARGE");
  expect_kv_error(kv()->set("k", 1, {.ttl = 5'001ms}), ErrorCode::invalid_input,
                  "INVALID_TTL", "ttl");
  EXPECT_TRUE(kv()->set("k", text_of(27), {.ttl = 5s}).ok());
  expect_kv_error(kv()->set("l", 1, {.ttl = 5s}), ErrorCode::quota_exceeded,
                  "QUOTA_EXCEEDED");
}

TEST_P(Contract, KvLimitsLoweredBelowWhatIsThereLeaveIt) {
  if (!keeps()) GTEST_SKIP() << "this backend keeps nothing over a reopen";
  put("a-long-key", text_of(100), days(90));
  put("b", text_of(100));
  add("n", 5);
  options.kv_max_key_bytes = 4;
  options.kv_max_value_bytes = 32;
  options.kv_max_scope_bytes = 64;
  options.kv_max_ttl = 1s;
  reopen();
  EXPECT_EQ(used_bytes(), 110u + 101u + 2u);
  EXPECT_EQ(kv()->usage().value().limit_bytes, 64u);
  EXPECT_EQ(keys(), (std::vector<std::string>{"a-long-key", "b", "n"}));
  EXPECT_EQ(value_of("b")->size(), 100u);
  EXPECT_EQ(add("n", 1, 1s), 6);
  expect_kv_error(kv()->set("c", 1, {.ttl = 1s}), ErrorCode::quota_exceeded,
                  "QUOTA_EXCEEDED");
  EXPECT_TRUE(kv()->set("b", text_of(32), {.ttl = 1s}).ok());
  // The key itself cannot be named any more, its beginning can.
  EXPECT_EQ(kv()->remove_prefix("a-lo").value(), 1u);
  EXPECT_EQ(used_bytes(), 33u + 2u);
  options.kv_max_key_bytes = 1024;
  reopen();
}

}  // namespace satchel::test
