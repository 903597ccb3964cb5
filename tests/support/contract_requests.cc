// Contract: request ids. A retry gets the first result and applies nothing.

#include "tests/support/contract.h"

namespace satchel::test {

void contract_requests() {}

TEST_P(Contract, MintReplaysAsTheSameHandle) {
  const MintOptions o{.ttl = 1h, .writer = "w", .request_id = "r"};
  const auto s = mint(R"({"a":1})"_j, o);
  advance(1min);
  EXPECT_TRUE(same_info(mint(R"({ "a" : 1 })"_j, o), s));
  if (keeps()) {
    reopen();
    EXPECT_TRUE(same_info(mint(R"({"a":1})"_j, o), s));
  }
  EXPECT_EQ(list().size(), 1u);
}

TEST_P(Contract, EachMutationReplays) {
  const auto s = mint(R"({"l":[]})"_j);
  const auto twice = [&](const auto& call) {
    const Snapshot first = call();
    advance(1s);
    EXPECT_TRUE(same_info(call(), first));
    if (keeps()) reopen();
    EXPECT_TRUE(same_info(call(), first));
    EXPECT_TRUE(same_info(get(s.handle), first));
  };
  twice(
      [&] { return patch(s.handle, op::append("l", 1), {.request_id = "p"}); });
  twice([&] {
    return save(s.handle, R"({"l":[2]})"_j, 2, {.ttl = 5h, .request_id = "s"});
  });
  twice([&] { return touch(s.handle, 9h, {.request_id = "t"}); });
  twice([&] {
    return revert(s.handle, 1, {.expect_version = 4, .request_id = "v"});
  });
  EXPECT_EQ(get(s.handle).version, 5u);
  revoke(s.handle, {.request_id = "x"});
  revoke(s.handle, {.request_id = "x"});
  expect_error(store().revoke(s.handle, {.user = kUser}),
               ErrorCode::handle_not_found);
}

TEST_P(Contract, AReplayReturnsTheFirstResultAfterNewerVersions) {
  const auto s = mint(R"({"l":[]})"_j, {.request_id = "m"});
  const auto p =
      patch(s.handle, op::append("l", 1), {.writer = "w", .request_id = "p"});
  const auto w = save(s.handle, "{}"_j, 2, {.request_id = "s"});
  patch(s.handle, op::set_key("", "k", 1));
  EXPECT_TRUE(same_info(mint(R"({"l":[]})"_j, {.request_id = "m"}), s));
  EXPECT_TRUE(same_info(
      patch(s.handle, op::append("l", 1), {.writer = "w", .request_id = "p"}),
      p));
  EXPECT_TRUE(same_info(save(s.handle, "{}"_j, 2, {.request_id = "s"}), w));
  EXPECT_EQ(get(s.handle).version, 4u);
  EXPECT_EQ(text(s.handle), R"({"k":1})");
}

TEST_P(Contract, AReplayThatReturnsStateReadsThatVersion) {
  const auto s = mint(R"({"l":[]})"_j);
  const PatchOptions o{.request_id = "p", .return_state = true};
  const auto first = patch(s.handle, op::append("l", 1), o);
  patch(s.handle, op::append("l", 2));
  const auto again = patch(s.handle, op::append("l", 1), o);
  EXPECT_TRUE(same_info(again, first));
  ASSERT_TRUE(again.state.has_value());
  EXPECT_EQ(again.state->text(), R"({"l":[1]})");
  revoke(s.handle);
  const auto gone = patch(s.handle, op::append("l", 1), o);
  EXPECT_TRUE(same_info(gone, first));
  EXPECT_FALSE(gone.state.has_value());
}

TEST_P(Contract, TheWriterIsNotPartOfTheRequest) {
  const auto s = mint("{}"_j, {.writer = "a", .request_id = "r"});
  EXPECT_TRUE(same_info(mint("{}"_j, {.writer = "b", .request_id = "r"}), s));
}

TEST_P(Contract, TheSameIdForAnotherCallIsAConflict) {
  const auto s = mint(R"({"l":[]})"_j, {.ttl = 1h, .request_id = "r"});
  const auto other = mint(R"({"l":[]})"_j);
  const auto conflict = [&](const auto& result) {
    expect_error(result, ErrorCode::request_conflict);
  };
  const std::string u = kUser;
  const JsonInput state = R"({"l":[]})"_j;
  conflict(
      store().mint("note", "{}"_j, {.user = u, .ttl = 1h, .request_id = "r"}));
  conflict(
      store().mint("other", state, {.user = u, .ttl = 1h, .request_id = "r"}));
  conflict(
      store().mint("note", state, {.user = u, .ttl = 2h, .request_id = "r"}));
  conflict(store().mint("note", state, {.user = u, .request_id = "r"}));
  conflict(store().save(
      s.handle, state,
      {.user = u, .expect_version = 1, .ttl = 1h, .request_id = "r"}));
  conflict(store().patch(s.handle, op::append("l", 1),
                         {.user = u, .request_id = "r"}));
  conflict(store().touch(s.handle, {.user = u, .ttl = 1h, .request_id = "r"}));
  conflict(store().revert(s.handle, 1, {.user = u, .request_id = "r"}));
  conflict(store().revoke(s.handle, {.user = u, .request_id = "r"}));
  patch(s.handle, op::append("l", 1), {.request_id = "p"});
  conflict(store().patch(s.handle, op::append("l", 2),
                         {.user = u, .request_id = "p"}));
  conflict(store().patch(s.handle, op::append("l", 1.0),
                         {.user = u, .request_id = "p"}));
  conflict(store().patch(other.handle, op::append("l", 1),
                         {.user = u, .request_id = "p"}));
  save(other.handle, state, 1, {.request_id = "s"});
  conflict(store().save(other.handle, state,
                        {.user = u, .expect_version = 2, .request_id = "s"}));
  conflict(store().save(other.handle, state,
                        {.user = u,
                         .expect_version = 1,
                         .ttl = Ttl::persist(),
                         .request_id = "s"}));
  EXPECT_EQ(get(s.handle).version, 2u);
  EXPECT_EQ(get(other.handle).version, 2u);
  EXPECT_EQ(list().size(), 2u);
}

TEST_P(Contract, RequestIdsAreOfOneUser) {
  const auto a = mint("{}"_j, {.request_id = "r"});
  const auto b = mint(R"({"b":1})"_j, {.user = "bob", .request_id = "r"});
  const auto c = mint("{}"_j, {.user = "alic", .request_id = "er"});
  EXPECT_EQ((std::set{a.handle, b.handle, c.handle}).size(), 3u);
  const auto again = mint("{}"_j, {.request_id = "r"});
  EXPECT_TRUE(same_info(again, a));
}

TEST_P(Contract, RefusalsAreNotRemembered) {
  const auto s = mint(R"({"l":[]})"_j);
  const SaveOptions o{.user = kUser, .expect_version = 2, .request_id = "r"};
  expect_error(store().save(s.handle, "{}"_j, o), ErrorCode::stale_write);
  patch(s.handle, op::append("l", 1));
  EXPECT_EQ(store().save(s.handle, "{}"_j, o).value().version, 3u);
  expect_error(store().patch("note_aaaaaaaa", op::append("l", 1),
                             {.user = kUser, .request_id = "q"}),
               ErrorCode::handle_not_found);
  expect_error(store().patch(s.handle, op::append("no.such", 1),
                             {.user = kUser, .request_id = "q"}),
               ErrorCode::patch_error);
  EXPECT_EQ(mint("{}"_j, {.request_id = "q"}).version, 1u);
}

TEST_P(Contract, NoOpsAreRemembered) {
  const auto s = mint("{}"_j);
  const PatchOptions o{.request_id = "r"};
  const auto noop = patch(s.handle, op::del_key("", "k"), o);
  EXPECT_EQ(noop.version, 1u);
  patch(s.handle, op::set_key("", "k", 1));
  EXPECT_TRUE(same_info(patch(s.handle, op::del_key("", "k"), o), noop));
  EXPECT_EQ(text(s.handle), R"({"k":1})");
  expect_error(store().patch(s.handle, op::del_key("", "j"),
                             {.user = kUser, .request_id = "r"}),
               ErrorCode::request_conflict);
}

TEST_P(Contract, AReplayIsAnsweredAfterTheEndOfTheHandle) {
  const auto s = mint("{}"_j, {.ttl = 1h, .request_id = "m"});
  const PatchOptions o{.request_id = "p"};
  const auto p = patch(s.handle, op::set_key("", "k", 1), o);
  const auto again = [&] {
    EXPECT_TRUE(same_info(patch(s.handle, op::set_key("", "k", 1), o), p));
    EXPECT_TRUE(same_info(mint("{}"_j, {.ttl = 1h, .request_id = "m"}), s));
  };
  advance(1h);
  again();
  EXPECT_EQ(sweep(), 1u);
  again();
  EXPECT_TRUE(list().empty());
  const auto r = mint("{}"_j, {.request_id = "m2"});
  revoke(r.handle);
  EXPECT_TRUE(same_info(mint("{}"_j, {.request_id = "m2"}), r));
  expect_error(store().get(r.handle, {.user = kUser}),
               ErrorCode::handle_not_found);
}

TEST_P(Contract, AReplayIsAnsweredAtTheQuota) {
  options.max_handles_per_user = 1;
  options.max_request_ids_per_user = 2;
  open_with_options();
  const auto s = mint("{}"_j, {.request_id = "m"});
  const auto p = patch(s.handle, op::set_key("", "k", 1), {.request_id = "p"});
  const auto full = store().patch(s.handle, op::set_key("", "k", 2),
                                  {.user = kUser, .request_id = "q"});
  Error e = expect_error(full, ErrorCode::quota_exceeded);
  EXPECT_EQ(e.details.value("held", 0), 2);
  EXPECT_EQ(e.details.value("limit", 0), 2);
  EXPECT_EQ(text(s.handle), R"({"k":1})");
  EXPECT_TRUE(same_info(mint("{}"_j, {.request_id = "m"}), s));
  EXPECT_TRUE(same_info(
      patch(s.handle, op::set_key("", "k", 1), {.request_id = "p"}), p));
  expect_error(store().patch(s.handle, op::set_key("", "k", 2),
                             {.user = kUser, .request_id = "p"}),
               ErrorCode::request_conflict);
  // Without an id, and for other users, the limit is not there.
  EXPECT_EQ(patch(s.handle, op::set_key("", "k", 3)).version, 3u);
  mint("{}"_j, {.user = "bob", .request_id = "m"});
}

TEST_P(Contract, RequestIdsEndWithTheirWindow) {
  options.request_window = 60s;
  options.max_request_ids_per_user = 1;
  open_with_options();
  const auto s = mint("{}"_j, {.request_id = "m"});
  advance(60s - 1us);
  EXPECT_TRUE(same_info(mint("{}"_j, {.request_id = "m"}), s));
  expect_error(store().mint("note", "{}"_j, {.user = kUser, .request_id = "n"}),
               ErrorCode::quota_exceeded);
  advance(1us);
  const auto n = mint("{}"_j, {.request_id = "n"});
  EXPECT_NE(n.handle, s.handle);
  advance(60s);
  EXPECT_NE(mint("{}"_j, {.request_id = "n"}).handle, n.handle);
}

}  // namespace satchel::test
