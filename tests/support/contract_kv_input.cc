// Contract: which arguments of key-value calls are refused, by every call.

#include <limits>

#include "tests/support/contract.h"

namespace satchel::test {

void contract_kv_input() {}

namespace {
/// Checks that every call that takes a key refuses this one.
void expect_key_refused(KvScope& scope, const std::string& key) {
  const auto refused = [&](const auto& result) {
    const auto error =
        expect_kv_error(result, ErrorCode::invalid_input, "INVALID_KEY", "key");
    EXPECT_FALSE(error.details.value("reason", "").empty());
    const auto shown = error.details.value("key", "none");
    EXPECT_EQ(key.substr(0, shown.size()), shown);
    EXPECT_LE(shown.size(), 64u);
  };
  SCOPED_TRACE(Json(key.substr(0, 40))
                   .dump(-1, ' ', true, Json::error_handler_t::replace));
  refused(scope.get(key));
  refused(scope.set(key, 1, {.ttl = 1h}));
  refused(scope.set(key, 1, {.ttl = 1h, .if_absent = true}));
  refused(scope.remove(key));
  refused(scope.has(key));
  refused(scope.increment(key, {.ttl = 1h}));
  refused(scope.decrement(key, {.ttl = 1h}));
  refused(scope.mget({"fine", key}));
}

void expect_prefix_refused(KvScope& scope, const std::string& prefix) {
  const auto refused = [](const auto& result) {
    expect_kv_error(result, ErrorCode::invalid_input, "INVALID_ARGUMENT",
                    "prefix");
  };
  refused(scope.keys({.prefix = prefix}));
  refused(scope.remove_prefix(prefix));
}

std::vector<std::string> names_with_other_characters() {
  std::vector<std::string> all = {
      "a b",  " ",        "a\n",         "\t",           "é",
      "構建", "\xff",     "a\x80",       "\xed\xa0\x80", "k\xc2\xa0",
      "a\\b", "a{b}",     "user@domain", "a%3Ab",        std::string("a\0b", 3),
      "🎉",    "a\xcc\x81"};
  const std::string allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-/";
  for (int c = 0; c < 256; ++c) {
    const auto byte = static_cast<char>(c);
    if (allowed.find(byte) == allowed.npos) all.push_back({'k', byte});
  }
  return all;
}

std::vector<std::string> bad_text() {
  return {"\xff",    "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
          "\xe2\x82"};
}
}  // namespace

TEST_P(Contract, KvKeysAreCheckedByEveryCall) {
  const auto scope = kv();
  put("fine", 1);
  auto bad = names_with_other_characters();
  EXPECT_GT(bad.size(), 200u);
  bad.insert(bad.end(), {"", std::string(1025, 'k'), std::string(1 << 20, 'k'),
                         std::string(1023, 'k') + "é"});
  for (const auto& key : bad) expect_key_refused(*scope, key);
  EXPECT_EQ(keys(), std::vector<std::string>{"fine"});
  EXPECT_EQ(value_of("fine"), "1");
}

TEST_P(Contract, KvPrefixesAreCheckedByEveryCall) {
  const auto scope = kv();
  put("fine", 1);
  auto bad = names_with_other_characters();
  bad.push_back(std::string(1025, 'k'));
  for (const auto& prefix : bad) expect_prefix_refused(*scope, prefix);
  EXPECT_EQ(keys(), std::vector<std::string>{"fine"});
}

TEST_P(Contract, KvKeysUpToTheLimitAreServed) {
  const std::string longest(1024, 'k');
  const std::string all =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-/";
  for (const auto& key : {longest, all, std::string("k")}) {
    put(key, 1);
    EXPECT_EQ(add(key), 2);
    EXPECT_TRUE(kv()->has(key).value());
    EXPECT_EQ(keys({.prefix = key}).front(), key);
  }
  EXPECT_EQ(used_bytes(), 1025u + all.size() + 1 + 2);
  EXPECT_EQ(kv()->remove_prefix(longest).value(), 1u);
}

TEST_P(Contract, KvTtlIsCheckedByEveryCallThatTakesOne) {
  using DayCount = std::chrono::duration<double, std::ratio<86400>>;
  put("k", 1);
  const Ttl bad[] = {Ttl::keep(),
                     Ttl::persist(),
                     0s,
                     -1s,
                     999us,
                     days(90) + 1us,
                     days(91),
                     days(36'500),
                     std::chrono::hours::max(),
                     std::chrono::hours::min(),
                     DayCount(std::numeric_limits<double>::quiet_NaN()),
                     DayCount(std::numeric_limits<double>::infinity()),
                     DayCount(-1e300)};
  for (const Ttl& ttl : bad) {
    for (const auto* key : {"k", "absent"}) {
      const auto refused = [](const auto& result) {
        const auto error = expect_kv_error(result, ErrorCode::invalid_input,
                                           "INVALID_TTL", "ttl");
        EXPECT_FALSE(error.details.value("reason", "").empty());
      };
      refused(kv()->set(key, 2, {.ttl = ttl}));
      refused(kv()->set(key, 2, {.ttl = ttl, .if_absent = true}));
      refused(kv()->increment(key, {.ttl = ttl}));
      refused(kv()->decrement(key, {.ttl = ttl}));
    }
  }
  EXPECT_EQ(value_of("k"), "1");
  EXPECT_EQ(keys_of(*kv()).at(0).expires_at, clock->now() + 1h);
  for (const Ttl& ttl : {Ttl(1ms), Ttl(1'001us), Ttl(days(90))}) {
    EXPECT_EQ(put("k", 3, ttl), clock->now() + ttl.duration());
    EXPECT_EQ(value_of("k"), "3");
  }
}

TEST_P(Contract, KvLimitIsOneToAThousand) {
  put("a", 1);
  put("b", 1);
  for (const std::uint32_t limit : {0u, 1001u, 4'294'967'295u}) {
    expect_kv_error(kv()->keys({.limit = limit}), ErrorCode::invalid_input,
                    "INVALID_ARGUMENT", "limit");
  }
  EXPECT_EQ(kv()->keys({.limit = 1}).value().keys.size(), 1u);
  EXPECT_EQ(kv()->keys({.limit = 1000}).value().keys.size(), 2u);
}

TEST_P(Contract, KvValuesMustBeJson) {
  put("k", 1);
  std::vector<KvValue> bad = {""_j,
                              "{"_j,
                              "nul"_j,
                              "NaN"_j,
                              "{\"a\":1,\"a\":2}"_j,
                              "[1,]"_j,
                              "1 2"_j,
                              "\"\xff\""_j,
                              R"("\ud800")"_j,
                              "18446744073709551616"_j,
                              "1e999"_j};
  bad.push_back(Document::parse(std::string(129, '[') + std::string(129, ']')));
  bad.push_back(std::numeric_limits<double>::quiet_NaN());
  bad.push_back(std::numeric_limits<double>::infinity());
  bad.push_back("\xff");
  for (const auto& value : bad) {
    expect_kv_error(kv()->set("k", value, {.ttl = 1h}),
                    ErrorCode::invalid_input, "INVALID_ARGUMENT", "value");
    expect_kv_error(kv()->set("k", 2, {.ttl = 1h, .expect_value = value}),
                    ErrorCode::invalid_input, "INVALID_ARGUMENT",
                    "expect_value");
  }
  EXPECT_EQ(value_of("k"), "1");
  put("k", Document::parse(std::string(128, '[') + std::string(128, ']')));
  EXPECT_EQ(value_of("k")->size(), 256u);
}

TEST_P(Contract, KvContextIsChecked) {
  auto bad_apps = bad_text();
  bad_apps.insert(bad_apps.end(),
                  {"", " ", "a b", "a ", " a", "a\tb", "\n", "\x7f", "\xc2\x85",
                   "\xc2\xa0", "\xe2\x80\x83", "\xe2\x80\xa8", "\xe3\x80\x80",
                   std::string("a\0b", 3), std::string(257, 'a'),
                   std::string(255, 'a') + "é", std::string(1 << 20, 'a')});
  for (const auto& app : bad_apps) {
    expect_kv_error(store().scope(kUser, app), ErrorCode::invalid_input,
                    "INVALID_CONTEXT", "app");
  }
  auto bad_users = bad_text();
  bad_users.insert(bad_users.end(), {"", "a\nb", std::string("a\0b", 3), "\x7f",
                                     std::string(1025, 'u')});
  for (const auto& user : bad_users) {
    expect_kv_error(store().scope(user, kApp), ErrorCode::invalid_input,
                    "INVALID_CONTEXT", "user");
  }
  for (const auto& app :
       {std::string(256, 'a'), std::string("構建"), std::string("../../x"),
        std::string("';--"), std::string(254, 'a') + "é", std::string("a")}) {
    EXPECT_TRUE(kv(app)->set("k", 1, {.ttl = 1h}).ok()) << app;
    EXPECT_EQ(kv(app)->usage().value().app, app);
  }
  for (const auto& user : {std::string(1024, 'u'), std::string("a b ")}) {
    EXPECT_TRUE(kv(kApp, user)->set("k", 1, {.ttl = 1h}).ok());
  }
}

}  // namespace satchel::test
