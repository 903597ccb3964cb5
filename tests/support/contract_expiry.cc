// Contract: when a handle ends, and what is left of it.

#include "satchel/objects.h"
#include "tests/support/contract.h"

namespace satchel::test {

void contract_expiry() {}

TEST_P(Contract, AHandleIsGoneAtItsExpiryAndNotBefore) {
  const auto s = mint(R"({"a":1})"_j, {.ttl = 60s});
  advance(60s - 1us);
  EXPECT_EQ(text(s.handle), R"({"a":1})");
  EXPECT_EQ(list().size(), 1u);
  advance(1us);
  for (Call call : kHandleCalls) {
    const auto e = error_of(store(), call, s.handle, kUser);
    ASSERT_TRUE(e.has_value()) << name(call);
    EXPECT_EQ(e->code, ErrorCode::handle_expired) << name(call);
    EXPECT_EQ(e->details.value("expired_at", ""), to_rfc3339(*s.expires_at));
    EXPECT_DOUBLE_EQ(e->details.value("ttl_days", 0.0), 60.0 / 86400);
  }
  EXPECT_TRUE(list().empty());
}

TEST_P(Contract, ExpiredStaysExpiredAfterASweepAndAReopen) {
  const auto s = mint("{}"_j, {.ttl = 36h});
  const auto kept = mint("{}"_j, {.ttl = 37h});
  advance(36h);
  const auto told = [&] {
    const auto r = store().get(s.handle, {.user = kUser});
    Error e = expect_error(r, ErrorCode::handle_expired);
    EXPECT_DOUBLE_EQ(e.details.value("ttl_days", 0.0), 1.5);
    return e.to_payload();
  };
  const std::string before = told();
  EXPECT_EQ(sweep(), 1u);
  EXPECT_EQ(told(), before);
  EXPECT_EQ(sweep(), 0u);
  EXPECT_EQ(text(kept.handle), "{}");
  if (!keeps()) return;
  reopen();
  EXPECT_EQ(told(), before);
}

TEST_P(Contract, AfterThirtyDaysExpiredReadsAsNeverThere) {
  const auto swept = mint("{}"_j, {.ttl = 1h});
  advance(2h);
  EXPECT_EQ(sweep(), 1u);
  const auto unswept = mint("{}"_j, {.ttl = 1h});
  advance(days(29));
  for (const auto& h : {swept.handle, unswept.handle})
    expect_error(store().get(h, {.user = kUser}), ErrorCode::handle_expired);
  advance(days(1) + 3h);
  const auto never = error_of(store(), Call::get, "note_aaaaaaaa", kUser);
  for (const auto& h : {swept.handle, unswept.handle}) {
    const auto r = store().get(h, {.user = kUser});
    EXPECT_EQ(expect_error(r, ErrorCode::handle_not_found).to_payload(),
              never->to_payload());
  }
}

TEST_P(Contract, WritesKeepTheExpiryToTheMicrosecond) {
  const auto s = mint(R"({"l":[]})"_j, {.ttl = days(1)});
  advance(1h + 1us);
  EXPECT_EQ(save(s.handle, R"({"l":[]})"_j, 1).expires_at, s.expires_at);
  EXPECT_EQ(patch(s.handle, op::append("l", 1)).expires_at, s.expires_at);
  EXPECT_EQ(patch(s.handle, Json::array()).expires_at, s.expires_at);
  EXPECT_EQ(revert(s.handle, 1).expires_at, s.expires_at);
  EXPECT_EQ(get(s.handle).expires_at, s.expires_at);
  advance(days(1) - 1h - 2us);
  EXPECT_EQ(get(s.handle).expires_at, s.expires_at);
  advance(1us);
  expect_error(store().get(s.handle, {.user = kUser}),
               ErrorCode::handle_expired);
}

TEST_P(Contract, ManyAppendsNeverMoveTheExpiry) {
  const auto s = mint(R"({"l":[]})"_j, {.ttl = days(1)});
  for (int i = 0; i < 500; ++i) {
    advance(165s);
    ASSERT_EQ(patch(s.handle, op::append("l", i)).expires_at, s.expires_at);
    if (keeps() && i == 250) reopen();
  }
  clock->set(*s.expires_at - 1us);
  EXPECT_EQ(get(s.handle).state.value().json()["l"].size(), 500u);
  clock->set(*s.expires_at);
  expect_error(store().get(s.handle, {.user = kUser}),
               ErrorCode::handle_expired);
}

TEST_P(Contract, TouchCountsFromNow) {
  const auto s = mint("{}"_j, {.ttl = 1h});
  advance(59min);
  EXPECT_EQ(touch(s.handle, 1h).expires_at, clock->now() + 1h);
  advance(59min);
  EXPECT_EQ(get(s.handle).version, 2u);
  EXPECT_EQ(touch(s.handle, 1min).expires_at, clock->now() + 1min);
  EXPECT_FALSE(touch(s.handle, Ttl::persist()).expires_at.has_value());
  advance(days(20));
  EXPECT_EQ(touch(s.handle, 1s).expires_at, clock->now() + 1s);
  advance(1s);
  const auto r = store().get(s.handle, {.user = kUser});
  EXPECT_DOUBLE_EQ(
      expect_error(r, ErrorCode::handle_expired).details.value("ttl_days", 0.0),
      1.0 / 86400);
}

TEST_P(Contract, SaveCanSetOrEndTheExpiry) {
  const auto s = mint("{}"_j, {.ttl = 1h});
  advance(1min);
  EXPECT_EQ(save(s.handle, "{}"_j, 1, {.ttl = 5h}).expires_at,
            clock->now() + 5h);
  EXPECT_FALSE(save(s.handle, "{}"_j, 2, {.ttl = Ttl::persist()})
                   .expires_at.has_value());
  EXPECT_FALSE(save(s.handle, "{}"_j, 3).expires_at.has_value());
  advance(days(25));
  EXPECT_EQ(text(s.handle), "{}");
}

TEST_P(Contract, ReadsNeverRenew) {
  const auto s = mint("{}"_j, {.ttl = 1h});
  for (int i = 0; i < 5; ++i) {
    advance(10min);
    get(s.handle);
    list();
    history(s.handle);
    changes(s.handle, 0);
  }
  EXPECT_TRUE(same_info(get(s.handle), s));
  advance(10min);
  expect_error(store().get(s.handle, {.user = kUser}),
               ErrorCode::handle_expired);
}

TEST_P(Contract, ARenewedHandleSurvivesSweepsPastItsOldExpiry) {
  const auto s = mint(R"({"l":[]})"_j, {.ttl = 1h});
  patch(s.handle, op::append("l", 1));
  touch(s.handle, days(20));
  const auto p = mint("{}"_j, {.ttl = 1h});
  touch(p.handle, Ttl::persist());
  for (int i = 0; i < 3; ++i) {
    advance(days(5));
    EXPECT_EQ(sweep(), 0u);
    EXPECT_EQ(text(s.handle), R"({"l":[1]})");
    EXPECT_EQ(text(p.handle), "{}");
    if (keeps()) reopen();
  }
}

TEST_P(Contract, SweepRemovesTheUsersExpiredHandlesOnly) {
  for (int i = 0; i < 5; ++i) mint("{}"_j, {.ttl = 1h});
  const auto kept = mint("{}"_j, {.ttl = 3h});
  mint("{}"_j, {.user = "bob", .ttl = 1h});
  EXPECT_EQ(sweep(), 0u);
  advance(1h);
  EXPECT_EQ(list({.include_expired = true}).size(), 6u);
  EXPECT_EQ(sweep(), 5u);
  EXPECT_EQ(sweep(), 0u);
  const auto rest = list({.include_expired = true});
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_TRUE(same_info(rest[0], kept));
  EXPECT_EQ(list({.include_expired = true}, "bob").size(), 1u);
  EXPECT_EQ(sweep("bob"), 1u);
  EXPECT_EQ(sweep("nobody"), 0u);
}

TEST_P(Contract, IncludeExpiredShowsThemUntilTheSweep) {
  const auto dead = mint("{}"_j, {.ttl = 1h});
  advance(30min);
  const auto live = mint("{}"_j);
  advance(30min);
  ASSERT_EQ(list().size(), 1u);
  EXPECT_TRUE(same_info(list()[0], live));
  const auto both = list({.include_expired = true});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_TRUE(same_info(both[0], live));
  EXPECT_TRUE(same_info(both[1], dead));
}

TEST_P(Contract, RevokingAnExpiredHandleIsExpired) {
  const auto s = mint("{}"_j, {.ttl = 1h});
  advance(1h);
  expect_error(store().revoke(s.handle, {.user = kUser}),
               ErrorCode::handle_expired);
}

TEST_P(Contract, ARevokedHandleStaysNotFoundPastItsExpiry) {
  const auto s = mint("{}"_j, {.ttl = 1h});
  revoke(s.handle);
  advance(2h);
  expect_error(store().get(s.handle, {.user = kUser}),
               ErrorCode::handle_not_found);
  EXPECT_EQ(sweep(), 0u);
}

}  // namespace satchel::test
