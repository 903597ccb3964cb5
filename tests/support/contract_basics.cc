// Contract: what each call does when nothing stands in its way.

#include "satchel/objects.h"
#include "tests/support/contract.h"

namespace satchel::test {

void contract_basics() {}

TEST_P(Contract, MintMakesVersionOneNow) {
  const Snapshot s =
      mint(R"({"a":1})"_j, {.ttl = 2h, .writer = "laptop"}, "research");
  EXPECT_EQ(s.handle.rfind("research_", 0), 0u);
  EXPECT_EQ(s.handle.size(), std::string("research_").size() + 8);
  EXPECT_EQ(s.handle.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567", 9),
            std::string::npos);
  EXPECT_EQ(s.kind, "research");
  EXPECT_EQ(s.version, 1u);
  EXPECT_EQ(s.created_at, clock->now());
  EXPECT_EQ(s.updated_at, clock->now());
  EXPECT_EQ(s.expires_at, clock->now() + 2h);
  EXPECT_EQ(s.last_writer, "laptop");
  EXPECT_FALSE(s.state.has_value());
  EXPECT_TRUE(same_info(get(s.handle), s));
}

TEST_P(Contract, MintWithoutTtlNeverExpires) {
  EXPECT_FALSE(mint("{}"_j).expires_at.has_value());
  EXPECT_FALSE(mint("{}"_j, {.ttl = Ttl::persist()}).expires_at.has_value());
}

TEST_P(Contract, EveryMintIsAnotherHandle) {
  std::set<std::string> handles;
  for (int i = 0; i < 200; ++i) handles.insert(mint("{}"_j).handle);
  EXPECT_EQ(handles.size(), 200u);
}

TEST_P(Contract, ReturnStateGivesTheStateThatTheCallMade) {
  const auto s = mint(R"({"l":[]})"_j, {.return_state = true});
  EXPECT_EQ(s.state.value().text(), R"({"l":[]})");
  const auto p = patch(s.handle, op::append("l", 1), {.return_state = true});
  EXPECT_EQ(p.state.value().text(), R"({"l":[1]})");
  const auto w = save(s.handle, R"({"l":2})"_j, 2, {.return_state = true});
  EXPECT_EQ(w.state.value().text(), R"({"l":2})");
  const auto t = touch(s.handle, 1h, {.return_state = true});
  EXPECT_EQ(t.state.value().text(), R"({"l":2})");
  const auto r = revert(s.handle, 2, {.return_state = true});
  EXPECT_EQ(r.state.value().text(), R"({"l":[1]})");
  EXPECT_FALSE(revert(s.handle, 1).state.has_value());
  EXPECT_FALSE(patch(s.handle, op::append("l", 1)).state.has_value());
}

TEST_P(Contract, SaveReplacesTheStateAndNamesItsWriter) {
  const auto s = mint(R"({"a":1})"_j, {.writer = "laptop"});
  advance(1s);
  const auto w = save(s.handle, R"({"b":2})"_j, 1, {.writer = "phone"});
  EXPECT_EQ(w.version, 2u);
  EXPECT_EQ(w.created_at, s.created_at);
  EXPECT_EQ(w.updated_at, clock->now());
  EXPECT_EQ(w.last_writer, "phone");
  EXPECT_EQ(text(s.handle), R"({"b":2})");
  EXPECT_TRUE(same_info(get(s.handle), w));
}

TEST_P(Contract, SavingTheSameStateIsANewVersion) {
  const auto s = mint(R"({"a":1})"_j);
  EXPECT_EQ(save(s.handle, R"({"a":1})"_j, 1).version, 2u);
}

TEST_P(Contract, SaveWithoutAVersionIsRefused) {
  const auto s = mint("{}"_j);
  expect_error(store().save(s.handle, "{}"_j, {.user = kUser}),
               ErrorCode::invalid_input, "expect_version");
  expect_error(
      store().save(s.handle, "{}"_j, {.user = kUser, .expect_version = 0}),
      ErrorCode::invalid_input, "expect_version");
  EXPECT_EQ(get(s.handle).version, 1u);
}

TEST_P(Contract, StaleSaveIsToldTheWinner) {
  const auto s = mint(R"({"n":0})"_j, {.ttl = 1h});
  save(s.handle, R"({"n":1})"_j, 1, {.writer = "phone"});
  const auto lost = store().save(s.handle, R"({"n":2})"_j,
                                 {.user = kUser, .expect_version = 1});
  Error e = expect_error(lost, ErrorCode::stale_write);
  EXPECT_EQ(e.details.value("expected_version", 0), 1);
  EXPECT_EQ(e.details["current"], to_json(get(s.handle)));
  EXPECT_EQ(e.details["current"]["state"].dump(), R"({"n":1})");
  EXPECT_EQ(e.details["current"]["last_writer"], "phone");
  EXPECT_EQ(text(s.handle), R"({"n":1})");
}

TEST_P(Contract, SaveFromTheFutureIsStale) {
  const auto s = mint("{}"_j);
  const auto r =
      store().save(s.handle, "{}"_j, {.user = kUser, .expect_version = 9});
  EXPECT_EQ(
      expect_error(r, ErrorCode::stale_write).details["current"]["version"], 1);
}

TEST_P(Contract, PatchAppliesToTheNewestState) {
  const auto s = mint(R"({"l":[1]})"_j);
  save(s.handle, R"({"l":[1,2]})"_j, 1);
  const auto p = patch(s.handle, op::append("l", 3), {.writer = "w"});
  EXPECT_EQ(p.version, 3u);
  EXPECT_EQ(p.last_writer, "w");
  EXPECT_EQ(text(s.handle), R"({"l":[1,2,3]})");
}

TEST_P(Contract, PatchThatChangesNothingIsNoVersion) {
  const auto s = mint(R"({"l":[1],"o":{"k":"v"},"n":1.0})"_j, {.writer = "a"});
  advance(1min);
  const Json noops[] = {
      Json::array(),
      op::del_key("", "absent"),
      op::merge(Json::object()),
      op::set_key("o", "k", "v"),
      op::add_to_set("l", 1),
      op::remove_value("l", "1"),
      Json::array({op::append("l", 2), op::remove_value("l", 2)})};
  for (const Json& ops : noops) {
    const auto p = patch(s.handle, ops, {.writer = "b"});
    EXPECT_TRUE(same_info(p, s)) << ops;
  }
  EXPECT_TRUE(same_info(get(s.handle), s));
}

TEST_P(Contract, EqualityIsOfBytesNotOfNumbers) {
  const auto s = mint(R"({"n":1.0})"_j);
  EXPECT_EQ(patch(s.handle, op::set_key("", "n", 1)).version, 2u);
  EXPECT_EQ(text(s.handle), R"({"n":1})");
}

TEST_P(Contract, VersionsRiseByOneWithEveryKindOfWrite) {
  const auto s = mint(R"({"n":0})"_j);
  EXPECT_EQ(patch(s.handle, op::increment("", "n", 1)).version, 2u);
  EXPECT_EQ(touch(s.handle, 1h).version, 3u);
  EXPECT_EQ(save(s.handle, "{}"_j, 3).version, 4u);
  EXPECT_EQ(revert(s.handle, 1).version, 5u);
  EXPECT_EQ(touch(s.handle, Ttl::persist()).version, 6u);
}

TEST_P(Contract, UpdatedAtRisesWhileTheClockStandsStill) {
  const auto s = mint(R"({"n":0})"_j);
  Time last = s.updated_at;
  for (int i = 0; i < 10; ++i) {
    const auto p = patch(s.handle, op::increment("", "n", 1));
    EXPECT_EQ(p.updated_at, last + 1us);
    last = p.updated_at;
  }
}

TEST_P(Contract, RevokeEndsTheHandle) {
  const auto s = mint("{}"_j);
  revoke(s.handle);
  for (Call call : kHandleCalls) {
    const auto e = error_of(store(), call, s.handle, kUser);
    ASSERT_TRUE(e.has_value()) << name(call);
    EXPECT_EQ(e->code, ErrorCode::handle_not_found) << name(call);
  }
  EXPECT_TRUE(list({.include_expired = true}).empty());
}

TEST_P(Contract, GetOfAPathGivesTheSubtree) {
  const auto s =
      mint(R"({"a":{"b":[10,{"c":"x"}]},"p.q":1,"":{"/":2},"~":3})"_j);
  const std::pair<const char*, const char*> kPaths[] = {
      {"a.b", R"([10,{"c":"x"}])"},
      {"/a/b/0", "10"},
      {"/a/b/1/c", R"("x")"},
      {"/p.q", "1"},
      {"/", R"({"/":2})"},
      {"//~1", "2"},
      {"/~0", "3"},
      {"a", R"({"b":[10,{"c":"x"}]})"}};
  for (const auto& [path, want] : kPaths) {
    const auto g = get(s.handle, {.path = path});
    EXPECT_EQ(g.state.value().text(), want) << path;
    EXPECT_EQ(g.path, path);
    EXPECT_TRUE(same_info(g, s));
  }
  EXPECT_EQ(get(s.handle, {.path = ""}).state, get(s.handle).state);
}

TEST_P(Contract, GetOfAPathThatIsNotThereIsRefused) {
  const auto s = mint(R"({"a":{"b":[10]},"":1})"_j);
  for (const char* path :
       {"x", "a.x", "a.b.0", "/a/b/1", "/a/b/-", "/a/b/00", "/a/b/01", "a..b",
        ".", "a.", "/x", "/~2", "/a/b/0/z"})
    expect_error(store().get(s.handle, {.user = kUser, .path = path}),
                 ErrorCode::invalid_input, "path");
}

TEST_P(Contract, EverythingSurvivesAReopen) {
  if (!keeps()) GTEST_SKIP() << "the backend keeps nothing";
  const auto a = mint(R"({"l":[]})"_j, {.ttl = 3h, .writer = "w"});
  patch(a.handle, op::append("l", "x"));
  const auto b = mint("{}"_j, {}, "other");
  revoke(b.handle);
  const auto before = get(a.handle);
  reopen();
  EXPECT_TRUE(same_info(get(a.handle), before));
  EXPECT_EQ(text(a.handle), R"({"l":["x"]})");
  EXPECT_EQ(list().size(), 1u);
  EXPECT_EQ(patch(a.handle, op::append("l", "y")).version, 3u);
  EXPECT_EQ(text(a.handle), R"({"l":["x","y"]})");
}

}  // namespace satchel::test
