// Contract: the end of key-value entries, and clocks that step.

#include "tests/support/contract.h"

namespace satchel::test {

void contract_kv_expiry() {}

TEST_P(Contract, KvEntriesEndAtTheirMicrosecond) {
  const auto scope = kv();
  put("k", 1, 1'001us);
  put("stays", 2);
  const auto both = used_bytes();
  advance(1'000us);
  EXPECT_EQ(value_of("k"), "1");
  EXPECT_TRUE(scope->has("k").value());
  EXPECT_EQ(scope->mget({"k"}).value().size(), 1u);
  EXPECT_EQ(keys().size(), 2u);
  EXPECT_EQ(used_bytes(), both);
  advance(1us);
  EXPECT_EQ(value_of("k"), std::nullopt);
  EXPECT_FALSE(scope->has("k").value());
  EXPECT_TRUE(scope->mget({"k"}).value().empty());
  EXPECT_EQ(keys(), std::vector<std::string>{"stays"});
  EXPECT_EQ(keys({.prefix = "k"}), std::vector<std::string>());
  EXPECT_EQ(used_bytes(), both - 2);
  EXPECT_EQ(scope->usage().value().key_count, 1u);
  clock->step(-1us);
  EXPECT_EQ(value_of("k"), "1");
  EXPECT_EQ(keys().size(), 2u);
  EXPECT_EQ(used_bytes(), both);
}

TEST_P(Contract, KvExpiredEntriesAreAbsentForEveryChange) {
  const auto scope = kv();
  for (const auto* key : {"removed", "prefix:1", "once", "expect", "count"})
    put(key, 7, 1ms);
  advance(1ms);
  EXPECT_FALSE(scope->remove("removed").value());
  EXPECT_EQ(scope->remove_prefix("prefix:").value(), 0u);
  EXPECT_EQ(scope->remove_prefix("").value(), 0u);
  EXPECT_TRUE(scope->set("once", 1, {.ttl = 1h, .if_absent = true}).ok());
  expect_kv_error(scope->set("expect", 1, {.ttl = 1h, .expect_value = 7}),
                  ErrorCode::condition_failed, "");
  EXPECT_EQ(add("count"), 1);
  EXPECT_EQ(keys(), (std::vector<std::string>{"count", "once"}));
}

TEST_P(Contract, KvExpiredEntriesCountNothingAtOnceAndAfterReopening) {
  for (int i = 0; i < 100; ++i)
    put("k" + std::to_string(i), i, microseconds(1'000 + i));
  put("live", 1);
  advance(999us);
  for (unsigned left = 101; left > 1; --left) {
    EXPECT_EQ(kv()->usage().value().key_count, left);
    advance(1us);
    if (keeps() && left % 25 == 0) reopen();
    EXPECT_EQ(kv()->usage().value().key_count, left - 1);
  }
  EXPECT_EQ(used_bytes(), 5u);
}

TEST_P(Contract, KvEntriesSetAgainLiveByTheNewTtl) {
  put("longer", 1, 1min);
  put("shorter", 1, 1h);
  advance(30s);
  put("longer", 2, 1h);
  put("shorter", 2, 1s);
  advance(1min);
  EXPECT_EQ(value_of("longer"), "2");
  EXPECT_EQ(value_of("shorter"), std::nullopt);
  if (keeps()) reopen();
  EXPECT_EQ(keys(), std::vector<std::string>{"longer"});
}

TEST_P(Contract, KvClockThatGoesBackShowsWhatItSays) {
  put("short", 1, 1min);
  put("long", 2, 1h);
  advance(2min);
  EXPECT_EQ(keys(), std::vector<std::string>{"long"});
  put("new", 3, 1min);
  clock->step(-90s);  // 30 s in
  EXPECT_EQ(keys(), (std::vector<std::string>{"long", "new", "short"}));
  EXPECT_EQ(used_bytes(), 6u + 5u + 4u);
  EXPECT_EQ(value_of("short"), "1");
  EXPECT_EQ(add("short", 1, 1min), 2);  // lives until 1:30 now
  clock->step(59s);
  EXPECT_EQ(value_of("short"), "2");
  clock->step(1s);
  EXPECT_EQ(value_of("short"), std::nullopt);
  clock->step(-1s);
  EXPECT_TRUE(kv()->remove("short").value());
  for (const auto step : {1h, -1h, 2h, -2h}) {
    clock->step(step);
    EXPECT_EQ(keys().size(), step > 0h ? 0u : 2u);
    EXPECT_EQ(used_bytes(), step > 0h ? 0u : 5u + 4u);
    if (keeps()) reopen();
  }
}

TEST_P(Contract, KvEntriesThatASweepWentPastStayGone) {
  put("short", 1, 1min);
  put("long", 2, 10h);
  advance(1h);
  sweep();
  clock->step(-59min - 30s);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(value_of("short"), std::nullopt);
    EXPECT_FALSE(kv()->has("short").value());
    EXPECT_EQ(keys(), std::vector<std::string>{"long"});
    EXPECT_EQ(used_bytes(), 5u);
    if (keeps()) reopen();
  }
  // A new entry counts from a time that has not passed.
  EXPECT_GT(put("new", 1, 1ms), clock->now() + 1ms);
  EXPECT_EQ(value_of("new"), "1");
  EXPECT_EQ(add("short", 1, 1min), 1);
  EXPECT_EQ(keys().size(), 3u);
}

TEST_P(Contract, KvAClockThatIsNotBelievedDestroysNothing) {
  const auto right = clock->now();
  put("k", 1, days(1));
  for (const auto leap : {days(401), days(50 * 365), days(-20'000)}) {
    clock->set(right + leap);
    sweep();
    if (keeps()) reopen();
    EXPECT_EQ(kv()->has("k").value(), leap < days(0));
    clock->set(right + 1min);
    EXPECT_EQ(value_of("k"), "1");
    EXPECT_EQ(used_bytes(), 2u);
  }
}

TEST_P(Contract, KvScopesAndHandlesLeaveEachOtherAlone) {
  const auto s = mint("{}"_j, {.ttl = 1h});
  put(s.handle, "entry", 3h);
  put("k", 1, 1h);
  EXPECT_EQ(list().size(), 1u);
  advance(2h);
  EXPECT_EQ(sweep(), 1u);
  EXPECT_EQ(keys(), std::vector<std::string>{s.handle});
  const auto t = mint("{}"_j);
  EXPECT_EQ(kv()->remove_prefix("").value(), 1u);
  EXPECT_EQ(text(t.handle), "{}");
  revoke(t.handle);
  EXPECT_TRUE(keys().empty());
}

}  // namespace satchel::test
