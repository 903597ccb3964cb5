// Contract: key-value scopes never meet, whatever their user and app hold.

#include <utility>

#include "tests/support/contract.h"

namespace satchel::test {

void contract_kv_scopes() {}

namespace {
using Pair = std::pair<std::string, std::string>;

/// Users and apps that a careless encoding folds together, takes for a prefix
/// or a pattern of one another, or cuts at another place.
std::vector<Pair> confusable_scopes() {
  const std::string max = "\xf4\x8f\xbf\xbf";  // U+10FFFF
  const std::string user(1023, 'n');
  const std::string app(255, 'n');
  std::vector<Pair> all = {{"a:b", "c"},
                           {"a", "b:c"},
                           {"a/b", "c"},
                           {"a", "b/c"},
                           {"a%3Ab", "c"},
                           {"a%3Ab%3Ac", "c"},
                           {"a_b", "c"},
                           {"a", "b_c"},
                           {"a", "bc"},
                           {"ab", "c"},
                           {"abc", "c"},
                           {"a.b", "c"},
                           {"a", "b.c"},
                           {"a-b", "c"},
                           {"a", "b-c"},
                           {"a|b", "c"},
                           {"a", "b|c"},
                           {"a%", "c"},
                           {"a_", "c"},
                           {"a*", "c"},
                           {"a?", "c"},
                           {"a", "c%"},
                           {"a", "c*"},
                           {"a ", "c"},
                           {" a", "c"},
                           {"a", "c"},
                           {"A", "c"},
                           {"a", "C"},
                           {"c", "a"},
                           {"a", "a"},
                           {"tenant/acme", "x"},
                           {"tenant/acme-corp", "x"},
                           {"tenant", "acme/x"},
                           {"index", "index"},
                           {"meta", "kv"},
                           {"kv", "meta"},
                           {"\xc3\xa9", "c"},
                           {"e\xcc\x81", "c"},
                           {"a", "\xc3\xa9"},
                           {"a", "e\xcc\x81"},
                           {"構建", "構建"},
                           {"发版", "構建"},
                           {"🎉", "🎉"},
                           {"a", "🎉"},
                           {"../../x", "../../x"},
                           {"'; DROP", "';DROP"},
                           {"__proto__", "__proto__"},
                           {"null", "null"},
                           {max, max},
                           {max + max, max},
                           {max, max + max},
                           {"a", max},
                           {"a\xc3\xbf", "c"},
                           {"a", "\xc3\xbf"},
                           {"\xc2\xa0", "c"},
                           {"1", "11"},
                           {"11", "1"},
                           {"\"", "\""},
                           {"\\", "\\"},
                           {"\\0", "\\0"}};
  for (const auto& [u, a] :
       {Pair(user + "a", app + "a"), Pair(user + "b", app + "a"),
        Pair(user + "a", app + "b"), Pair(user, app)})
    all.emplace_back(u, a);
  return all;
}
}  // namespace

TEST_P(Contract, KvScopesWithLikeNamesHoldTheirOwn) {
  options.durability = Durability::os;
  open_with_options();
  const auto scopes = confusable_scopes();
  EXPECT_EQ(std::set<Pair>(scopes.begin(), scopes.end()).size(), scopes.size());
  for (const auto& [user, app] : scopes) {
    const auto scope = kv(app, user);
    ASSERT_EQ(scope->usage().value().key_count, 0u) << user << ' ' << app;
    scope->set("k", Json{user, app}, {.ttl = 1h}).value();
    scope->set("c:k", 1, {.ttl = 1h}).value();
    ASSERT_EQ(scope->increment("n", {.ttl = 1h}).value(), 1) << user;
  }
  if (keeps()) reopen();
  for (const auto& [user, app] : scopes) {
    const auto scope = kv(app, user);
    EXPECT_EQ(keys_of(*scope).size(), 3u) << user << ' ' << app;
    const auto value = scope->get("k").value().value().value.json();
    EXPECT_EQ(value, Json({user, app}));
    EXPECT_EQ(scope->usage().value().user, user);
    EXPECT_EQ(scope->usage().value().app, app);
  }
}

TEST_P(Contract, KvRemovalsStayWithinTheScope) {
  options.durability = Durability::os;
  open_with_options();
  const auto scopes = confusable_scopes();
  for (const auto& [user, app] : scopes)
    kv(app, user)->set("k", 1, {.ttl = 1h}).value();
  std::size_t removed = 0;
  for (const auto& [user, app] : scopes) {
    const auto scope = kv(app, user);
    ASSERT_TRUE(scope->has("k").value()) << user << ' ' << app;
    if (removed % 2 == 0)
      EXPECT_EQ(scope->remove_prefix("").value(), 1u);
    else
      EXPECT_TRUE(scope->remove("k").value());
    EXPECT_EQ(scope->usage().value().key_count, 0u);
    ++removed;
  }
  EXPECT_EQ(removed, scopes.size());
}

TEST_P(Contract, KvTwoScopesOfOneNameAreOne) {
  const auto one = kv();
  const auto two = kv();
  one->set("k", 1, {.ttl = 1h}).value();
  EXPECT_EQ(two->increment("k", {.ttl = 1h}).value(), 2);
  EXPECT_EQ(one->usage().value().used_bytes, 2u);
  EXPECT_TRUE(two->remove("k").value());
  EXPECT_FALSE(one->has("k").value());
}

}  // namespace satchel::test
