// Contract: pages of the keys of a scope, and the cursors between them.

#include <algorithm>
#include <cctype>
#include <map>

#include "tests/support/contract.h"

namespace satchel::test {

void contract_kv_pages() {}

namespace {
std::string numbered(int i) {
  const auto digits = std::to_string(i);
  return "k" + std::string(5 - digits.size(), '0') + digits;
}

void expect_cursor_refused(KvScope& scope, const KvKeysOptions& options) {
  expect_kv_error(scope.keys(options), ErrorCode::invalid_input,
                  "INVALID_ARGUMENT", "cursor");
}
}  // namespace

TEST_P(Contract, KvKeysComeInTheOrderOfTheirBytes) {
  std::vector<std::string> names = {
      "a", "B",  "_",  "0",  "9",  "Z",  "z",  "-",   ".", "/",
      ":", "aa", "a-", "a:", "a/", "a_", "a0", "a00", "A", "zz"};
  for (const auto& key : names) put(key, 1);
  std::sort(names.begin(), names.end());
  for (const std::uint32_t limit : {1u, 2u, 3u, 19u, 20u, 21u, 1000u})
    EXPECT_EQ(keys({.limit = limit}), names) << limit;
  if (keeps()) reopen();
  EXPECT_EQ(keys({.limit = 7}), names);
}

TEST_P(Contract, KvPrefixesBoundThePage) {
  const std::vector<std::string> names = {"a",  "a:",   "a:1", "a:1:x", "a:2",
                                          "a;", "aa",   "a_",  "b",     "z",
                                          "zz", "zz:1", "zzz", "A:1"};
  std::vector<std::string> stored;
  for (const auto& key : names) {
    if (key.find(';') != key.npos) continue;
    put(key, 1);
    stored.push_back(key);
  }
  std::sort(stored.begin(), stored.end());
  for (const auto& prefix : {"", "a", "a:", "a:1", "a:1:", "a:1:x", "a:1:x:",
                             "b", "z", "zz", "zzz", "zzzz", "A", "0", "/"}) {
    std::vector<std::string> expected;
    for (const auto& key : stored)
      if (key.starts_with(prefix)) expected.push_back(key);
    for (const std::uint32_t limit : {1u, 2u, 1000u})
      EXPECT_EQ(keys({.prefix = prefix, .limit = limit}), expected) << prefix;
  }
}

TEST_P(Contract, KvPagesMayBeginBehindAKey) {
  for (const auto* key : {"a", "a:1", "a:2", "a:3", "b"}) put(key, 1);
  const auto behind = [&](std::string_view prefix, std::string_view after) {
    return keys({.prefix = std::string(prefix), .after = std::string(after)});
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(behind("", "a"), (Names{"a:1", "a:2", "a:3", "b"}));
  EXPECT_EQ(behind("", "a:15"), (Names{"a:2", "a:3", "b"}));
  EXPECT_EQ(behind("a:", "a:1"), (Names{"a:2", "a:3"}));
  EXPECT_EQ(behind("a:", "0"), (Names{"a:1", "a:2", "a:3"}));
  EXPECT_EQ(behind("a:", "a:3"), Names());
  EXPECT_EQ(behind("a:", "z"), Names());
  const auto first = kv()->keys({.limit = 1, .after = "a"}).value();
  ASSERT_NE(first.cursor, "");
  EXPECT_EQ(kv()->keys({.cursor = first.cursor}).value().keys.front().key,
            "a:2");
  for (const auto& after : {std::string("a b"), std::string("é"),
                            std::string(1025, 'k'), std::string(1, '\0')}) {
    expect_kv_error(kv()->keys({.after = after}), ErrorCode::invalid_input,
                    "INVALID_ARGUMENT", "after");
  }
  expect_kv_error(kv()->keys({.cursor = first.cursor, .after = "a"}),
                  ErrorCode::invalid_input, "INVALID_ARGUMENT", "after");
}

TEST_P(Contract, KvPagesHoldAThousandByDefault) {
  options.durability = Durability::os;
  open_with_options();
  for (int i = 0; i < 1000; ++i) put(numbered(i), i);
  const auto all = kv()->keys().value();
  EXPECT_EQ(all.keys.size(), 1000u);
  EXPECT_EQ(all.cursor, "") << "nothing remains";
  put(numbered(1000), 1000, 3h);
  const auto first = kv()->keys().value();
  EXPECT_EQ(first.keys.size(), 1000u);
  ASSERT_NE(first.cursor, "");
  const auto rest = kv()->keys({.cursor = first.cursor}).value();
  ASSERT_EQ(rest.keys.size(), 1u);
  EXPECT_EQ(rest.keys[0].key, numbered(1000));
  EXPECT_EQ(rest.keys[0].expires_at, clock->now() + 3h);
  EXPECT_EQ(rest.cursor, "");
}

TEST_P(Contract, KvUntouchedKeysAppearOnceWhileOthersComeAndGo) {
  std::map<std::string, int> untouched;
  for (int i = 0; i < 300; ++i) {
    put(numbered(i), i, i % 3 == 1 ? Ttl(1min) : Ttl(10h));
    if (i % 3 == 0) untouched[numbered(i)] = 0;
  }
  KvKeysOptions next{.limit = 7};
  int round = 0;
  do {
    const auto page = kv()->keys(next).value();
    for (const auto& key : page.keys) {
      if (const auto it = untouched.find(key.key); it != untouched.end())
        ++it->second;
    }
    next.cursor = page.cursor;
    next.limit = static_cast<std::uint32_t>(1 + round % 9);
    // The key that the cursor stands on, and keys before and after it.
    const auto last = page.keys.empty() ? "k" : page.keys.back().key;
    if (!untouched.contains(last)) {
      EXPECT_TRUE(kv()->remove(last).value());
    }
    put(last + ":after", 1);
    put("a" + std::to_string(round), 1);
    if (round == 10) advance(1min);
    if (round == 20) {
      EXPECT_GT(kv()->remove_prefix("a").value(), 0u);
    }
    if (round == 25 && keeps()) reopen();
    ASSERT_LT(++round, 1000);
  } while (!next.cursor.empty());
  EXPECT_GT(round, 30);
  for (const auto& [key, times] : untouched) EXPECT_EQ(times, 1) << key;
}

TEST_P(Contract, KvCursorsThatWereAlteredAreRefused) {
  for (int i = 0; i < 5; ++i) put(numbered(i), i);
  const auto scope = kv();
  const auto cursor = scope->keys({.limit = 2}).value().cursor;
  ASSERT_NE(cursor, "");
  int refused = 0;
  for (std::size_t i = 0; i < cursor.size(); ++i) {
    for (const char c : {'0', 'f', 'A', 'g', ' '}) {
      auto altered = cursor;
      altered[i] = c;
      if (altered == cursor) continue;
      expect_cursor_refused(*scope, {.limit = 2, .cursor = altered});
      ++refused;
    }
    if (i > 0) expect_cursor_refused(*scope, {.cursor = cursor.substr(0, i)});
    auto upper = cursor;
    upper[i] = static_cast<char>(std::toupper(upper[i]));
    if (upper != cursor) expect_cursor_refused(*scope, {.cursor = upper});
  }
  EXPECT_GE(refused, static_cast<int>(4 * cursor.size()));
  for (const auto& other :
       {cursor + cursor, cursor + "00", "00" + cursor, cursor + " ",
        std::string("0"), std::string("not a cursor"), std::string("\xff\xfe"),
        std::string(1 << 20, '0'), std::string("\0", 1)})
    expect_cursor_refused(*scope, {.cursor = other});
  EXPECT_EQ(scope->keys({.cursor = cursor}).value().keys.size(), 3u);
}

TEST_P(Contract, KvCursorsBelongToTheirScopeAndPrefix) {
  const auto fill = [&](std::string_view app, std::string_view user) {
    const auto scope = kv(app, user);
    for (const auto* key : {"a:1", "a:2", "a:3", "ab", "b"})
      scope->set(key, 1, {.ttl = 1h}).value();
  };
  fill("app", "alice");
  fill("app", "bob");
  fill("other", "alice");
  fill("palice", "ap");
  const auto cursor = kv()->keys({.prefix = "a", .limit = 1}).value().cursor;
  ASSERT_NE(cursor, "");
  for (const auto* prefix : {"", "a:", "a:1", "ab", "b"})
    expect_cursor_refused(*kv(), {.prefix = prefix, .cursor = cursor});
  expect_cursor_refused(*kv("app", "bob"), {.prefix = "a", .cursor = cursor});
  expect_cursor_refused(*kv("other"), {.prefix = "a", .cursor = cursor});
  expect_cursor_refused(*kv("palice", "ap"), {.prefix = "a", .cursor = cursor});
  if (keeps()) reopen();
  const auto rest = kv()->keys({.prefix = "a", .cursor = cursor}).value();
  ASSERT_EQ(rest.keys.size(), 3u);
  EXPECT_EQ(rest.keys[0].key, "a:2");
}

TEST_P(Contract, KvCursorsAndListCursorsAreNotExchanged) {
  for (int i = 0; i < 3; ++i) {
    mint("{}"_j);
    put(numbered(i), i);
  }
  const auto of_list = store().list(kUser, {.limit = 1}).value().cursor;
  const auto of_keys = kv()->keys({.limit = 1}).value().cursor;
  ASSERT_NE(of_list, "");
  ASSERT_NE(of_keys, "");
  expect_cursor_refused(*kv(), {.cursor = of_list});
  for (const auto* kind : {"", "note"}) {
    for (const bool expired : {false, true}) {
      expect_error(store().list(kUser, {.kind = kind,
                                        .include_expired = expired,
                                        .cursor = of_keys}),
                   ErrorCode::invalid_input, "cursor");
    }
  }
}

}  // namespace satchel::test
