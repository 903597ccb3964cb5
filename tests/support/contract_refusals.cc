// Contract: what a refusal tells, to whom, and that it changes nothing.

#include "tests/support/contract.h"

namespace satchel::test {

void contract_refusals() {}

TEST_P(Contract, MissingForeignRevokedAndMalformedHandlesLookAlike) {
  const auto foreign = mint("{}"_j, {.user = "bob"});
  const auto expired = mint("{}"_j, {.user = "bob", .ttl = 1s});
  const auto revoked = mint("{}"_j);
  revoke(revoked.handle);
  advance(2s);
  const std::string handles[] = {"note_aaaaaaaa",
                                 foreign.handle,
                                 expired.handle,
                                 revoked.handle,
                                 "",
                                 "x",
                                 "_",
                                 "note_",
                                 "note",
                                 "note_AAAAAAAA",
                                 "note_aaaaaaa",
                                 "note_aaaaaaaaa",
                                 "null",
                                 foreign.handle + " ",
                                 " " + foreign.handle,
                                 std::string("note_aaaa\0aaa", 13),
                                 "note_aaaaaaa\xff",
                                 "../../etc/passwd",
                                 std::string(100'000, 'h'),
                                 "note_aaaaaaa\n"};
  for (Call call : kHandleCalls) {
    const auto first = error_of(store(), call, handles[0], kUser);
    ASSERT_TRUE(first.has_value()) << name(call);
    EXPECT_EQ(first->code, ErrorCode::handle_not_found) << name(call);
    for (const std::string& h : handles) {
      const auto e = error_of(store(), call, h, kUser);
      ASSERT_TRUE(e.has_value()) << name(call) << ' ' << h;
      EXPECT_EQ(e->to_payload(), first->to_payload()) << name(call) << ' ' << h;
    }
  }
  EXPECT_EQ(get(foreign.handle, {.user = "bob"}).version, 1u);
}

TEST_P(Contract, ARequestIdOrAVersionDoesNotTellAForeignHandleApart) {
  const auto foreign = mint("{}"_j, {.user = "bob"});
  for (const std::string& h : {foreign.handle, std::string("note_aaaaaaaa")}) {
    expect_error(
        store().save(h, "{}"_j,
                     {.user = kUser, .expect_version = 77, .request_id = "r"}),
        ErrorCode::handle_not_found);
    expect_error(store().get(h, {.user = kUser, .version = 77}),
                 ErrorCode::handle_not_found);
    expect_error(store().get(h, {.user = kUser, .path = "no.such"}),
                 ErrorCode::handle_not_found);
    expect_error(store().changes_since(h, 77, kUser),
                 ErrorCode::handle_not_found);
    expect_error(store().revert(h, 77, {.user = kUser, .expect_version = 77}),
                 ErrorCode::handle_not_found);
    expect_error(store().patch(h, op::append("no.such", 1), {.user = kUser}),
                 ErrorCode::handle_not_found);
  }
}

TEST_P(Contract, AStaleSaveOfALostHandleSaysThatItDidNotApply) {
  const auto s = mint("{}"_j);
  save(s.handle, R"({"winner":1})"_j, 1);
  revoke(s.handle);
  const auto r = store().save(s.handle, R"({"loser":1})"_j,
                              {.user = kUser, .expect_version = 1});
  Error e = expect_error(r, ErrorCode::handle_not_found);
  EXPECT_NE(e.message.find("not applied"), std::string::npos) << e.message;
  EXPECT_FALSE(e.details.contains("current"));
  EXPECT_TRUE(list({.include_expired = true}).empty());
}

TEST_P(Contract, AStaleSaveOfAnExpiredHandleIsExpired) {
  const auto s = mint("{}"_j, {.ttl = 1h});
  save(s.handle, R"({"winner":1})"_j, 1);
  advance(1h);
  const auto r = store().save(s.handle, R"({"loser":1})"_j,
                              {.user = kUser, .expect_version = 1});
  Error e = expect_error(r, ErrorCode::handle_expired);
  EXPECT_NE(e.message.find("not applied"), std::string::npos) << e.message;
  EXPECT_FALSE(e.details.contains("current"));
}

TEST_P(Contract, QuotaOfHandlesCountsTheLivingOnly) {
  options.max_handles_per_user = 3;
  open_with_options();
  const auto s = mint("{}"_j);
  mint("{}"_j, {.ttl = 1h});
  mint("{}"_j, {.ttl = 2h});
  const auto full = store().mint("note", "{}"_j, {.user = kUser});
  Error e = expect_error(full, ErrorCode::quota_exceeded);
  EXPECT_EQ(e.details.value("held", 0), 3);
  EXPECT_EQ(e.details.value("limit", 0), 3);
  mint("{}"_j, {.user = "bob"});
  advance(1h);
  mint("{}"_j);
  expect_error(store().mint("other", "{}"_j, {.user = kUser}),
               ErrorCode::quota_exceeded);
  revoke(s.handle);
  mint("{}"_j);
  expect_error(store().mint("note", "{}"_j, {.user = kUser}),
               ErrorCode::quota_exceeded);
}

TEST_P(Contract, AUserAtTheQuotaCanStillWorkWithWhatIsThere) {
  options.max_handles_per_user = 1;
  open_with_options();
  const auto s = mint(R"({"l":[]})"_j, {.ttl = 1h});
  EXPECT_EQ(patch(s.handle, op::append("l", 1)).version, 2u);
  EXPECT_EQ(touch(s.handle, 2h).version, 3u);
  EXPECT_EQ(save(s.handle, "{}"_j, 3).version, 4u);
  expect_error(store().mint("note", "{}"_j, {.user = kUser}),
               ErrorCode::quota_exceeded);
}

TEST_P(Contract, QuotaIsKeptAcrossAReopenAndWhenItWasLowered) {
  if (!keeps()) GTEST_SKIP() << "the backend keeps nothing";
  for (int i = 0; i < 5; ++i) mint("{}"_j);
  options.max_handles_per_user = 2;
  reopen();
  const auto r = store().mint("note", "{}"_j, {.user = kUser});
  Error e = expect_error(r, ErrorCode::quota_exceeded);
  EXPECT_EQ(e.details.value("held", 0), 5);
  EXPECT_EQ(e.details.value("limit", 0), 2);
}

TEST_P(Contract, RevertCanInsistOnTheCurrentVersion) {
  const auto s = mint(R"({"n":1})"_j);
  save(s.handle, R"({"n":2})"_j, 1);
  const auto stale =
      store().revert(s.handle, 1, {.user = kUser, .expect_version = 1});
  Error e = expect_error(stale, ErrorCode::stale_write);
  EXPECT_EQ(e.details["current"]["version"], 2);
  EXPECT_EQ(e.details["expected_version"], 1);
  EXPECT_EQ(revert(s.handle, 1, {.expect_version = 2}).version, 3u);
  EXPECT_EQ(text(s.handle), R"({"n":1})");
}

}  // namespace satchel::test
