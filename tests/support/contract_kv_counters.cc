// Contract: counters of a key-value scope.

#include <limits>

#include "tests/support/contract.h"

namespace satchel::test {

void contract_kv_counters() {}

namespace {
constexpr std::int64_t kMost = (std::int64_t{1} << 53) - 1;
}

TEST_P(Contract, KvCountersBeginAtZero) {
  EXPECT_EQ(add("up"), 1);
  EXPECT_EQ(add("up"), 2);
  EXPECT_EQ(add("up", 40), 42);
  EXPECT_EQ(value_of("up"), "42");
  EXPECT_EQ(kv()->decrement("down", {.ttl = 1h}).value(), -1);
  EXPECT_EQ(kv()->decrement("down", {.by = 9, .ttl = 1h}).value(), -10);
  EXPECT_EQ(kv()->decrement("down", {.by = -12, .ttl = 1h}).value(), 2);
  EXPECT_EQ(add("none", 0), 0);
  EXPECT_TRUE(kv()->has("none").value());
  put("set", 7);
  EXPECT_EQ(add("set"), 8);
}

TEST_P(Contract, KvCountersCountTheirTtlAnew) {
  add("k", 1, 1h);
  advance(30min);
  add("k", 0, 10min);
  EXPECT_EQ(kv()->get("k").value().value().expires_at, clock->now() + 10min);
  advance(5min);
  add("k", 1, 2h);
  EXPECT_EQ(kv()->get("k").value().value().expires_at, clock->now() + 2h);
  EXPECT_EQ(keys_of(*kv())[0].expires_at, clock->now() + 2h);
  // Reads renew nothing.
  advance(2h);
  EXPECT_FALSE(kv()->has("k").value());
}

TEST_P(Contract, KvCounterStraddlingItsExpiryBeginsAgain) {
  add("k", 5, 1min);
  advance(1min - 1us);
  EXPECT_EQ(add("k", 1, 1min), 6);
  advance(1min);
  EXPECT_EQ(add("k", 1, 1min), 1);
  put("other", "text", 1min);
  advance(1min);
  // What was no counter is nothing any more.
  EXPECT_EQ(add("other"), 1);
  EXPECT_EQ(kv()->decrement("k", {.ttl = 1min}).value(), -1);
}

TEST_P(Contract, KvCountersAreIntegersOnly) {
  const std::pair<std::string, std::string> others[] = {
      {"null", "null"},     {"true", "boolean"},  {"false", "boolean"},
      {R"("1")", "string"}, {R"("")", "string"},  {"[1]", "array"},
      {"{}", "object"},     {"1.0", "number"},    {"-0.0", "number"},
      {"1.5", "number"},    {"1e+300", "number"}, {"-7.0", "number"}};
  for (const auto& [stored, actual] : others) {
    put("k", Document::parse(stored));
    for (const auto& result : {kv()->increment("k", {.ttl = 2h}),
                               kv()->decrement("k", {.by = 0, .ttl = 2h})}) {
      const auto error =
          expect_kv_error(result, ErrorCode::type_mismatch, "TYPE_MISMATCH");
      EXPECT_EQ(error.details.value("actual", ""), actual) << stored;
      EXPECT_EQ(error.details.value("key", ""), "k");
    }
    EXPECT_EQ(value_of("k"), stored);
    EXPECT_EQ(keys_of(*kv())[0].expires_at, clock->now() + 1h);
  }
}

TEST_P(Contract, KvStepsOutOfRangeAreRefused) {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  put("k", 1);
  for (const auto by : {kMost + 1, -kMost - 1, kMin, kMin + 1, kMax}) {
    for (const auto* key : {"k", "absent"}) {
      expect_kv_error(kv()->increment(key, {.by = by, .ttl = 2h}),
                      ErrorCode::invalid_input, "INVALID_ARGUMENT", "by");
      expect_kv_error(kv()->decrement(key, {.by = by, .ttl = 2h}),
                      ErrorCode::invalid_input, "INVALID_ARGUMENT", "by");
    }
  }
  EXPECT_EQ(value_of("k"), "1");
  EXPECT_FALSE(kv()->has("absent").value());
  EXPECT_EQ(keys_of(*kv())[0].expires_at, clock->now() + 1h);
}

TEST_P(Contract, KvResultsOutOfRangeChangeNothing) {
  EXPECT_EQ(add("top", kMost), kMost);
  EXPECT_EQ(kv()->decrement("low", {.by = kMost, .ttl = 1h}).value(), -kMost);
  advance(1min);
  for (const std::int64_t by : {std::int64_t{1}, kMost}) {
    expect_kv_error(kv()->increment("top", {.by = by, .ttl = 2h}),
                    ErrorCode::invalid_input, "INVALID_ARGUMENT", "by");
    expect_kv_error(kv()->decrement("low", {.by = by, .ttl = 2h}),
                    ErrorCode::invalid_input, "INVALID_ARGUMENT", "by");
  }
  EXPECT_EQ(value_of("top"), std::to_string(kMost));
  EXPECT_EQ(value_of("low"), std::to_string(-kMost));
  for (const auto& key : keys_of(*kv()))
    EXPECT_EQ(key.expires_at, clock->now() + 59min);
  EXPECT_EQ(add("top", -kMost), 0);
  EXPECT_EQ(add("low", kMost), 0);
}

TEST_P(Contract, KvIntegersBeyondTheRangeOfCountersAreNotCounted) {
  for (const auto* stored :
       {"9007199254740992", "-9007199254740992", "9223372036854775807",
        "-9223372036854775808", "18446744073709551615"}) {
    put("k", Document::parse(stored));
    const bool above = *stored != '-';
    expect_kv_error(kv()->increment("k", {.by = above ? 1 : -1, .ttl = 2h}),
                    ErrorCode::invalid_input, "INVALID_ARGUMENT", "by");
    expect_kv_error(kv()->increment("k", {.by = 0, .ttl = 2h}),
                    ErrorCode::invalid_input, "INVALID_ARGUMENT", "by");
    EXPECT_EQ(value_of("k"), stored);
  }
}

}  // namespace satchel::test
