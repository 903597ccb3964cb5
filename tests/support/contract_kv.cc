// Contract: entries of a key-value scope, their values and conditions.

#include "tests/support/contract.h"

namespace satchel::test {

void contract_kv() {}

TEST_P(Contract, KvEntriesAreSetReadAndRemoved) {
  const auto scope = kv();
  EXPECT_FALSE(scope->get("k").value().has_value());
  EXPECT_FALSE(scope->has("k").value());
  EXPECT_FALSE(scope->remove("k").value());
  const auto until = scope->set("k", R"({ "a" : [1, 2.50] })"_j, {.ttl = 1h});
  EXPECT_EQ(until.value(), clock->now() + 1h);
  const auto entry = scope->get("k").value().value();
  EXPECT_EQ(entry.value.text(), R"({"a":[1,2.5]})");
  EXPECT_EQ(entry.expires_at, until.value());
  EXPECT_TRUE(scope->has("k").value());
  EXPECT_EQ(scope->set("k", "v", {.ttl = 2h}).value(), clock->now() + 2h);
  EXPECT_EQ(value_of("k"), R"("v")");
  EXPECT_TRUE(scope->remove("k").value());
  EXPECT_FALSE(scope->remove("k").value());
  EXPECT_EQ(value_of("k"), std::nullopt);
  EXPECT_TRUE(keys().empty());
  EXPECT_EQ(used_bytes(), 0u);
}

TEST_P(Contract, KvValuesOfEveryKindComeBackAsTheyWere) {
  const std::vector<std::string> values = {
      "null",
      "true",
      "false",
      "0",
      "-1",
      "1.0",
      "-0.0",
      "1e+300",
      "0.1",
      "9007199254740993",
      "9223372036854775807",
      "-9223372036854775808",
      "18446744073709551615",
      R"("")",
      R"("null")",
      R"("構建 🎉 é")",
      R"("\u0000\n\"\\")",
      "{}",
      "[]",
      R"([null,{"b":1,"a":[[]]}])",
      R"({"__proto__":{"x":1},"constructor":null,"":0})"};
  for (std::size_t i = 0; i < values.size(); ++i)
    put("k" + std::to_string(i), Document::parse(values[i]));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto key = "k" + std::to_string(i);
    names.push_back(key);
    EXPECT_EQ(value_of(key), values[i]);
    EXPECT_TRUE(kv()->has(key).value());
  }
  const auto entries = kv()->mget(names).value();
  ASSERT_EQ(entries.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(entries.at(names[i]).value.text(), values[i]);
}

TEST_P(Contract, KvPlainArgumentsAreTheirJson) {
  put("string", "3");
  put("text", std::string(R"({"a":1})"));
  put("number", 3);
  put("large", 18'446'744'073'709'551'615ull);
  put("real", 1.0);
  put("bool", true);
  put("tree", Json{{"a", nullptr}});
  EXPECT_EQ(value_of("string"), R"("3")");
  EXPECT_EQ(value_of("text"), R"("{\"a\":1}")");
  EXPECT_EQ(value_of("number"), "3");
  EXPECT_EQ(value_of("large"), "18446744073709551615");
  EXPECT_EQ(value_of("real"), "1.0");
  EXPECT_EQ(value_of("bool"), "true");
  EXPECT_EQ(value_of("tree"), R"({"a":null})");
}

TEST_P(Contract, KvKeysThatMeanSomethingElsewhereAreOrdinary) {
  std::vector<std::string> names = {
      "__proto__", "constructor", "prototype", "toString", "hasOwnProperty",
      "length",    "null",        "undefined", "NaN",      "0",
      "00",        "-1",          "1.0",       ".",        "..",
      "../../x",   "/",           "//",        ":",        "-",
      "_",         "a:b",         "A",         "a",        "~key"};
  names.pop_back();  // ~ is none of the characters
  const auto scope = kv();
  for (const auto& key : names) EXPECT_FALSE(scope->has(key).value()) << key;
  for (const auto& key : names) put(key, key);
  const auto entries = scope->mget(names).value();
  ASSERT_EQ(entries.size(), names.size());
  for (const auto& key : names) {
    EXPECT_EQ(entries.at(key).value.json(), key);
    EXPECT_EQ(scope->get(key).value().value().value.json(), key);
    EXPECT_EQ(keys({.prefix = key}).front(), key);
  }
  EXPECT_EQ(keys().size(), names.size());
  for (const auto& key : names) EXPECT_TRUE(scope->remove(key).value()) << key;
  EXPECT_TRUE(keys().empty());
}

TEST_P(Contract, KvIfAbsentSetsOnce) {
  const auto scope = kv();
  const auto once = [&](const KvValue& value) {
    return scope->set("mark", value, {.ttl = 1h, .if_absent = true});
  };
  EXPECT_TRUE(once(1).ok());
  expect_kv_error(once(2), ErrorCode::condition_failed, "");
  EXPECT_EQ(value_of("mark"), "1");
  EXPECT_EQ(keys_of(*scope)[0].expires_at, clock->now() + 1h);
  EXPECT_TRUE(scope->remove("mark").value());
  EXPECT_TRUE(once(3).ok());
  // A null is a value.
  put("mark", "null"_j);
  expect_kv_error(once(4), ErrorCode::condition_failed, "");
  advance(1h);
  EXPECT_TRUE(once(5).ok());
  EXPECT_EQ(value_of("mark"), "5");
}

TEST_P(Contract, KvExpectValueComparesCanonicalBytes) {
  const std::pair<std::string, std::string> equal[] = {
      {R"({"a":1,"b":[]})", R"( { "a" : 1, "b" : [ ] } )"},
      {R"("A")", R"("\u0041")"},
      {"0", "-0"},
      {"100.0", "1e2"},
      {"null", " null "},
      {R"("é")", R"("\u00e9")"}};
  for (const auto& [stored, expected] : equal) {
    put("k", Document::parse(stored));
    const KvValue expect(Document::parse(expected));
    EXPECT_TRUE(kv()->set("k", "new", {.ttl = 1h, .expect_value = expect}).ok())
        << stored;
    EXPECT_EQ(value_of("k"), R"("new")");
  }
  const std::pair<std::string, std::string> unequal[] = {
      {R"({"a":1,"b":2})", R"({"b":2,"a":1})"},
      {"1", "1.0"},
      {"0.0", "-0.0"},
      {"1", R"("1")"},
      {"null", "false"},
      {"9007199254740993", "9007199254740992"},
      {R"("é")", R"("e\u0301")"},
      {R"("a")", R"("a ")"}};
  for (const auto& [stored, expected] : unequal) {
    put("k", Document::parse(stored));
    const KvValue expect(Document::parse(expected));
    expect_kv_error(kv()->set("k", "new", {.ttl = 2h, .expect_value = expect}),
                    ErrorCode::condition_failed, "");
    EXPECT_EQ(value_of("k"), stored);
    EXPECT_EQ(keys_of(*kv())[0].expires_at, clock->now() + 1h);
  }
}

TEST_P(Contract, KvExpectValueFailsOnAbsentKeys) {
  const auto set = [&](const KvValue& expected) {
    return kv()->set("k", "new", {.ttl = 1h, .expect_value = expected});
  };
  expect_kv_error(set("null"_j), ErrorCode::condition_failed, "");
  put("k", 1);
  EXPECT_TRUE(kv()->remove("k").value());
  expect_kv_error(set(1), ErrorCode::condition_failed, "");
  put("k", 1);
  advance(1h);
  expect_kv_error(set(1), ErrorCode::condition_failed, "");
  EXPECT_FALSE(kv()->has("k").value());
  expect_kv_error(
      kv()->set("k", 1, {.ttl = 1h, .if_absent = true, .expect_value = 1}),
      ErrorCode::invalid_input, "INVALID_ARGUMENT", "expect_value");
  EXPECT_FALSE(kv()->has("k").value());
}

TEST_P(Contract, KvMgetGivesWhatIsThere) {
  put("a", 1);
  put("b", "null"_j);
  put("c", 3, 1min);
  const auto scope = kv();
  const auto entries = scope->mget({"c", "x", "a", "a", "b"}).value();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries.at("a").value.text(), "1");
  EXPECT_EQ(entries.at("b").value.text(), "null");
  EXPECT_EQ(entries.at("c").expires_at, clock->now() + 1min);
  EXPECT_TRUE(scope->mget({}).value().empty());
  EXPECT_EQ(scope->mget(std::vector<std::string>(100, "a")).value().size(), 1u);
  expect_kv_error(scope->mget(std::vector<std::string>(101, "a")),
                  ErrorCode::invalid_input, "INVALID_ARGUMENT", "keys");
}

TEST_P(Contract, KvRemovePrefixTakesThatPrefixOnly) {
  const std::vector<std::string> names = {
      "a", "a-", "a.", "a/", "a:", "a:1", "a:1:", "aa", "A:1", "b:1", "zz"};
  const auto scope = kv();
  for (const auto& key : names) put(key, 1);
  EXPECT_EQ(scope->remove_prefix("a:x").value(), 0u);
  EXPECT_EQ(scope->remove_prefix("a:").value(), 3u);
  EXPECT_EQ(keys(), (std::vector<std::string>{"A:1", "a", "a-", "a.", "a/",
                                              "aa", "b:1", "zz"}));
  EXPECT_EQ(scope->remove_prefix("zz").value(), 1u);
  EXPECT_EQ(scope->remove_prefix("").value(), 7u);
  EXPECT_EQ(scope->remove_prefix("").value(), 0u);
  EXPECT_TRUE(keys().empty());
  EXPECT_EQ(used_bytes(), 0u);
}

TEST_P(Contract, KvUsageCountsBytesOfKeysAndCanonicalValues) {
  kv("other");
  EXPECT_EQ(used_bytes(), 0u);
  put("key", R"({ "a" : "é" })"_j);  // 3 + {"a":"é"}
  EXPECT_EQ(used_bytes(), 3u + 10u);
  put("n", 12345);
  EXPECT_EQ(used_bytes(), 13u + 6u);
  add("n", -12340);
  EXPECT_EQ(used_bytes(), 13u + 2u);
  const auto usage = kv()->usage().value();
  EXPECT_EQ(usage.user, kUser);
  EXPECT_EQ(usage.app, kApp);
  EXPECT_EQ(usage.limit_bytes, 1u << 20);
  EXPECT_EQ(usage.key_count, 2u);
  EXPECT_EQ(kv("other")->usage().value().key_count, 0u);
}

TEST_P(Contract, KvScopesAreRefusedAfterClose) {
  const auto scope = kv();
  put("k", 1);
  store().close().value();
  const auto closed = [](const auto& result) {
    expect_kv_error(result, ErrorCode::store_closed, "");
  };
  closed(scope->get("k"));
  closed(scope->set("k", 1, {.ttl = 1h}));
  closed(scope->remove("k"));
  closed(scope->remove_prefix(""));
  closed(scope->has("k"));
  closed(scope->keys());
  closed(scope->increment("k", {.ttl = 1h}));
  closed(scope->decrement("k", {.ttl = 1h}));
  closed(scope->mget({"k"}));
  closed(scope->usage());
  open_with_options();
  EXPECT_EQ(kv()->has("k").value(), keeps());
}

}  // namespace satchel::test
