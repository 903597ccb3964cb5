// Contract: no user ever sees, counts or removes what is another's.

#include <map>

#include "tests/support/contract.h"

namespace satchel::test {

void contract_users() {}

namespace {
/// Names that a careless encoding folds together, takes for a prefix or a
/// pattern of one another, or sorts into another's range.
std::vector<std::string> confusable_users() {
  const std::string max = "\xf4\x8f\xbf\xbf";  // U+10FFFF
  const std::string long_name(1023, 'n');
  return {"a",
          "ab",
          "a%",
          "a_",
          "a*",
          "a:b",
          "a/b",
          "a%3Ab",
          "a ",
          "A",
          "a\xc3\xbf",
          "tenant/acme",
          "tenant/acme-corp",
          "Bob",
          "bob",
          "bob ",
          "\xc3\xa9",   // é, composed
          "e\xcc\x81",  // é, decomposed
          "构建",
          "发版",
          "🎉",
          "index",
          "meta",
          "head",
          "../../x",
          "'; DROP",
          max,
          max + max,
          max + "a",
          "\xef\xbf\xbf",
          long_name + "a",
          long_name + "b",
          long_name,
          "__proto__",
          "null",
          "\xe2\x80\xae"};
}
}  // namespace

TEST_P(Contract, UsersWithLikeNamesHoldTheirOwn) {
  const auto users = confusable_users();
  std::map<std::string, std::string> handle_of;
  for (const std::string& u : users) {
    handle_of[u] = mint(Json{{"owner", u}}, {.user = u}).handle;
    advance(1us);
    mint("{}"_j, {.user = u, .ttl = 1h});
    advance(1us);
  }
  EXPECT_EQ(handle_of.size(), users.size());
  if (keeps()) reopen();
  for (const std::string& u : users) {
    const auto mine = list({.limit = 1}, u);
    ASSERT_EQ(mine.size(), 2u) << u;
    EXPECT_EQ(mine[1].handle, handle_of[u]);
    EXPECT_EQ(get(handle_of[u], {.user = u}).state->json()["owner"], u);
    for (const std::string& other : users) {
      if (other == u) continue;
      expect_error(store().get(handle_of[u], {.user = other}),
                   ErrorCode::handle_not_found);
    }
  }
}

TEST_P(Contract, SweepAndRevokeStayWithinTheUser) {
  const auto users = confusable_users();
  for (const std::string& u : users) mint("{}"_j, {.user = u, .ttl = 1h});
  advance(1h);
  std::size_t swept = 0;
  for (const std::string& u : users) {
    ASSERT_EQ(list({.include_expired = true}, u).size(), 1u) << u;
    ASSERT_EQ(sweep(u), 1u) << u;
    ASSERT_TRUE(list({.include_expired = true}, u).empty()) << u;
    ++swept;
  }
  EXPECT_EQ(swept, users.size());
}

TEST_P(Contract, AForeignCallChangesNothing) {
  const auto s = mint(R"({"l":[]})"_j, {.ttl = 1h, .writer = "w"});
  for (Call call : kHandleCalls) {
    const auto e = error_of(store(), call, s.handle, "mallory");
    ASSERT_TRUE(e.has_value()) << name(call);
    EXPECT_EQ(e->code, ErrorCode::handle_not_found) << name(call);
  }
  EXPECT_TRUE(same_info(get(s.handle), s));
  EXPECT_EQ(sweep("mallory"), 0u);
  EXPECT_TRUE(list({.include_expired = true}, "mallory").empty());
}

TEST_P(Contract, RequestIdsAndUsersAreNotConcatenated) {
  const auto a = mint("{}"_j, {.user = "a", .request_id = "bc"});
  const auto ab = mint("{}"_j, {.user = "ab", .request_id = "c"});
  EXPECT_NE(a.handle, ab.handle);
  EXPECT_EQ(list({}, "a").size(), 1u);
  EXPECT_EQ(list({}, "ab").size(), 1u);
}

}  // namespace satchel::test
