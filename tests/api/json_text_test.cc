// The JSON rules: what text and trees are refused, and the canonical form of
// what is accepted.

#include "api/json_text.h"

#include <pthread.h>

#include <cmath>
#include <limits>
#include <random>

#include "api/json_keys.h"
#include "json_support.h"

namespace satchel {
namespace {

using testing::canonical_of;
using testing::nested;
using testing::refused_at;

std::string message_of(std::string_view text) {
  const auto document = Document::parse(text);
  return document ? "accepted" : document.error().message;
}

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

TEST(JsonText, KeepsOrderAndDropsSpace) {
  EXPECT_EQ(canonical_of(" { \"b\" : 1 ,\n\"a\":[ true , null ],\"10\":2,"
                         "\"9\":\"x\"} \t"),
            R"({"b":1,"a":[true,null],"10":2,"9":"x"})");
  EXPECT_EQ(canonical_of("[ ]"), "[]");
  EXPECT_EQ(canonical_of(" 7 "), "7");
}

TEST(JsonText, IntegersOf64BitsAreExact) {
  constexpr std::string_view kText =
      "[725653563933458432,9007199254740993,-9007199254740993,"
      "9223372036854775807,-9223372036854775808,9223372036854775808,"
      "18446744073709551615]";
  EXPECT_EQ(canonical_of(kText), kText);
}

TEST(JsonText, NumbersHaveOneSpelling) {
  EXPECT_EQ(canonical_of("[1.0,1,1E6,4.50,0.1,333333333.33333329,5e-324,"
                         "2.2250738585072011e-308]"),
            "[1.0,1,1000000.0,4.5,0.1,333333333.3333333,5e-324,"
            "2.225073858507201e-308]");
  EXPECT_EQ(canonical_of("[-0,-0.0,-0e3,0E0,1E-999,-1e-999]"),
            "[0,-0.0,-0.0,0.0,0.0,-0.0]");
  EXPECT_EQ(canonical_of("[1e14,1e15,1e22,123456789012345680.0,1e-4,1e-5,"
                         "1.5e300,0.00012345,-12.5]"),
            "[100000000000000.0,1e+15,1e+22,1.2345678901234568e+17,0.0001,"
            "1e-05,1.5e+300,0.00012345,-12.5]");
  EXPECT_EQ(canonical_of("1.7976931348623157e308"), "1.7976931348623157e+308");
}

TEST(JsonText, NumbersOutOfRangeAreRefusedWithTheirPath) {
  EXPECT_EQ(refused_at(R"({"a":[0,18446744073709551616]})"), "/a/1");
  EXPECT_EQ(refused_at(R"({"a":{"b~/":-9223372036854775809}})"), "/a/b~0~1");
  EXPECT_EQ(refused_at(R"({"x":1e400})"), "/x");
  EXPECT_EQ(refused_at(R"({"y":0,"x":-1e400})"), "/x");
  EXPECT_EQ(refused_at("[" + std::string(400, '9') + "]"), "/0");
  EXPECT_EQ(refused_at("1e309"), "");
  EXPECT_TRUE(says(message_of("[1e400]"), "too large for a double"));
  EXPECT_TRUE(says(message_of("[-9223372036854775809]"), "64-bit range"));
  EXPECT_TRUE(says(message_of("[" + std::string(400, '9') + "]"), "64-bit"));
}

TEST(JsonText, NotFiniteIsRefusedByName) {
  for (const char* word : {"NaN", "nan", "Infinity", "-Infinity", "inf"}) {
    const std::string text = std::string(R"({"x":)") + word + "}";
    EXPECT_EQ(canonical_of(text), "invalid_input") << word;
    EXPECT_TRUE(says(message_of(text), "no NaN and no Infinity")) << word;
    EXPECT_EQ(refused_at(text), "/x") << word;
  }
}

TEST(JsonText, DuplicateKeysAreRefusedWithTheirPath) {
  EXPECT_EQ(refused_at(R"({"a":1,"a":1})"), "/a");
  EXPECT_EQ(refused_at(R"({"p":[{"a":1,"\u0061":2}]})"), "/p/0/a");
  EXPECT_EQ(refused_at(R"({"":1,"":2})"), "/");
  EXPECT_TRUE(says(message_of(R"({"a":1,"a":2})"), "same key twice"));
  EXPECT_EQ(canonical_of(R"({"a":{"a":{}},"b":{"a":1}})"),
            R"({"a":{"a":{}},"b":{"a":1}})");
}

std::string wide_object(int members, std::string_view last) {
  std::string text = "{";
  for (int i = 0; i < members; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  return text + "\"" + std::string(last) + "\":1}";
}

TEST(JsonText, DuplicateKeysOfWideObjectsAreFound) {
  for (const int members : {7, 8, 9, 100, 20'000}) {
    EXPECT_EQ(refused_at(wide_object(members, "k3")), "/k3") << members;
    EXPECT_EQ(refused_at(wide_object(members, "new")), "accepted") << members;
  }
}

// 200 keys with one slot in the hash table of their object: 512 slots.
std::vector<std::string> colliding_keys() {
  std::vector<std::string> keys;
  for (int i = 0; keys.size() < 200; ++i) {
    std::string key = "k" + std::to_string(i);
    if ((std::hash<std::string_view>{}(key)&511) == 0)
      keys.push_back(std::move(key));
  }
  return keys;
}

TEST(JsonText, KeysMadeToCollideAreToldApart) {
  std::vector<std::string> keys = colliding_keys();
  KeyScopes scopes;
  for (const std::string& key : keys) scopes.add(key);
  EXPECT_EQ(scopes.close(0), std::nullopt);
  std::swap(keys[150], keys[199]);
  keys[199] = keys[120];
  for (const std::string& key : keys) scopes.add(key);
  EXPECT_EQ(scopes.close(0), 199u);
}

TEST(JsonText, SurrogatesMustComeInPairs) {
  EXPECT_EQ(canonical_of(R"(["\ud83d\ude00"])"), "[\"\xF0\x9F\x98\x80\"]");
  for (const char* text :
       {R"(["\ud800"])", R"(["\udc00"])", R"(["\udfff\ud800"])",
        R"(["\ud800\ud800\udc00"])", R"(["\ud800x"])", R"(["\ud800\n"])",
        R"({"\udead":1})", R"({"\uD800":1})", R"(["\uD83D\u0041"])"}) {
    EXPECT_EQ(canonical_of(text), "invalid_input") << text;
    EXPECT_TRUE(says(message_of(text), "surrogate")) << message_of(text);
  }
}

TEST(JsonText, OnlyStrictUtf8IsText) {
  for (const char* bytes : {"\x80", "\xC0\x80", "\xED\xA0\x80", "\xFF",
                            "\xF4\x90\x80\x80", "\xE2\x82", "\xE0\x80\xAF"}) {
    const std::string text = std::string("[\"") + bytes + "\"]";
    EXPECT_EQ(canonical_of(text), "invalid_input");
    EXPECT_TRUE(says(message_of(text), "UTF-8")) << message_of(text);
    EXPECT_EQ(canonical_of(std::string("{\"") + bytes + "\":1}"),
              "invalid_input");
  }
  EXPECT_TRUE(says(message_of("\xEF\xBB\xBF{}"), "byte order mark"));
  EXPECT_TRUE(says(message_of(std::string("\xFF\xFE{\0}\0", 6)), "UTF-8"));
}

TEST(JsonText, StringsEscapeOnlyWhatTheyMust) {
  EXPECT_EQ(
      canonical_of(R"(["\u0000\u0008\f\n\r\t\u001F\u007f\/\"\\é\u00e9"])"),
      "[\"\\u0000\\b\\f\\n\\r\\t\\u001f\x7f/\\\"\\\\é\xC3\xA9\"]");
  EXPECT_EQ(canonical_of("{\"k\\u0000x\":1,\"k\":2}"),
            "{\"k\\u0000x\":1,\"k\":2}");
  EXPECT_TRUE(says(message_of("[\"a\nb\"]"), "control character"));
}

TEST(JsonText, LookAlikesAndPrototypesAreOrdinaryKeys) {
  constexpr std::string_view kText =
      "{\"\xC3\xA9\":1,\"e\xCC\x81\":2,\"__proto__\":{\"a\":3},"
      "\"constructor\":4,\"hasOwnProperty\":5,\"toString\":6}";
  EXPECT_EQ(canonical_of(kText), kText);
}

TEST(JsonText, SyntaxErrorsSayWhereAndWhat) {
  EXPECT_TRUE(says(message_of("{\"a\":1} x"), "after the end"));
  EXPECT_TRUE(says(message_of("{\"a\":1} x"), "at byte 8"));
  EXPECT_TRUE(says(message_of("{\"a\":[1,2"), "ends too early"));
  EXPECT_TRUE(says(message_of(""), "ends too early"));
  EXPECT_TRUE(says(message_of("{'a':1}"), "strict JSON"));
  for (const std::string_view text :
       {std::string_view("{}\0", 3), std::string_view("[1,]"),
        std::string_view("01"), std::string_view("[1 2]"),
        std::string_view("{\"a\" 1}"), std::string_view("/**/{}"),
        std::string_view("+1"), std::string_view(".5"), std::string_view("1."),
        std::string_view("\"abc"), std::string_view("tru")})
    EXPECT_EQ(canonical_of(text), "invalid_input") << text;
}

TEST(JsonText, RefusalsStaySmallAndAreUtf8) {
  const std::string key(100'000, 'k');
  for (const std::string& text :
       {std::string(1 << 20, 'x'), "[\"" + std::string(1 << 20, '\xFF') + "\"]",
        "{\"" + key + "\":{\"b\":1e999}}", "[1," + std::string(50'000, '9')}) {
    const auto document = Document::parse(text);
    ASSERT_FALSE(document.ok());
    const std::string payload = document.error().to_payload();
    EXPECT_LT(payload.size(), 2'000u);
    EXPECT_TRUE(Json::accept(payload));
  }
  EXPECT_EQ(refused_at("{\"a\":{\"" + key + "\":1e999}}"), "/a");
}

TEST(JsonText, DepthIsBoundedExactly) {
  const int limit = kMaxDepth + kOpLevels;
  for (const char* inner : {"", "1", "\"x\""}) {
    EXPECT_EQ(canonical_of(nested(limit, inner)), nested(limit, inner));
    EXPECT_EQ(canonical_of(nested(limit + 1, inner)), "invalid_input") << inner;
  }
  EXPECT_EQ(canonical_of(nested(limit - 1, "{}")), nested(limit - 1, "{}"));
  EXPECT_EQ(canonical_of(nested(limit, "{}")), "invalid_input");
  EXPECT_TRUE(says(message_of(nested(limit + 1)), "deeper than 128"));
}

std::string deep_state(int levels) {
  return "{\"a\":" + nested(levels - 1) + "}";
}

TEST(JsonText, StatesAreObjectsOfAtMost128Levels) {
  const auto allowed = [](const Result<Document>& document) {
    return check_state(document.value()).ok();
  };
  for (const int levels : {2, 127, 128}) {
    EXPECT_TRUE(allowed(Document::parse(deep_state(levels))));
    EXPECT_TRUE(allowed(Document::from_json(Json::parse(deep_state(levels)))));
  }
  for (const int levels : {129, 130}) {
    EXPECT_FALSE(allowed(Document::parse(deep_state(levels))));
    EXPECT_FALSE(allowed(Document::from_json(Json::parse(deep_state(levels)))));
  }
  for (const char* text : {"[]", "1", "null", "\"{}\""}) {
    const auto refused = check_state(Document::parse(text).value());
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().details["field"], "state");
  }
  EXPECT_TRUE(check_state(Document()).ok());
}

void* refuse_deep_inputs(void* failures) {
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  objects += "1" + std::string(200'000, '}');
  const std::string open(100'000, '[');
  Json tree;
  for (int i = 0; i < 200'000; ++i) {
    Json parent = Json::array();
    parent.push_back(std::move(tree));
    tree = std::move(parent);
  }
  int& count = *static_cast<int*>(failures);
  if (canonicalise(objects).ok()) ++count;
  if (canonicalise(open).ok()) ++count;
  if (canonical(tree).ok()) ++count;
  if (!canonicalise(nested(130, "1")).ok()) ++count;
  if (!canonical(parse_canonical(nested(130, "1"))).ok()) ++count;
  return nullptr;
}

TEST(JsonText, DeepInputNeedsLittleStack) {
  pthread_attr_t small;
  ASSERT_EQ(pthread_attr_init(&small), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&small, 256 * 1024), 0);
  int failures = 0;
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &small, refuse_deep_inputs, &failures), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&small);
  EXPECT_EQ(failures, 0);
}

TEST(JsonTree, NotFiniteIsRefusedWithItsPath) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const auto text = canonical(Json{{"a", {1, bad}}});
    ASSERT_FALSE(text.ok());
    EXPECT_EQ(text.error().code, ErrorCode::invalid_input);
    EXPECT_EQ(text.error().details["path"], "/a/1");
  }
}

TEST(JsonTree, WhatJsonCannotHoldIsRefused) {
  EXPECT_FALSE(canonical(Json{{"a", "\xFF"}}).ok());
  EXPECT_FALSE(canonical(Json{{"\xED\xA0\x80", 1}}).ok());
  EXPECT_FALSE(canonical(Json{{"a", Json::binary({1, 2})}}).ok());
  EXPECT_FALSE(canonical(Json(Json::value_t::discarded)).ok());
  EXPECT_FALSE(canonical(Json::parse(nested(131))).ok());
  EXPECT_TRUE(canonical(Json::parse(nested(130))).ok());
}

TEST(JsonTree, DuplicateKeysOfATreeAreRefused) {
  Json tree = Json::object();
  for (int i = 0; i < 2; ++i)
    tree.get_ref<Json::object_t&>().push_back({"twice", i});
  const auto text = canonical(Json{{"a", tree}});
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().details["path"], "/a/twice");
}

double random_double(std::mt19937_64& random) {
  for (;;) {
    const std::uint64_t bits = random();
    double value = 0;
    static_assert(sizeof value == sizeof bits);
    std::memcpy(&value, &bits, sizeof value);
    if (random() % 2 == 0) value = std::ldexp(1 + value / 1e308, random() % 80);
    if (std::isfinite(value)) return value;
  }
}

TEST(JsonTree, TextAndTreeGiveTheSameBytes) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const double value = random_double(random);
    const Json tree = {{"d", value},
                       {"i", static_cast<std::int64_t>(random())},
                       {"u", random()}};
    const std::string text = canonical(tree).value().text;
    ASSERT_EQ(canonicalise(text).value().text, text);
    const Json back = parse_canonical(text);
    ASSERT_EQ(canonical(back).value().text, text);
    ASSERT_EQ(canonical_size(back), text.size());
    const double read = back["d"].get<double>();
    ASSERT_EQ(std::memcmp(&read, &value, sizeof value), 0) << text;
    ASSERT_TRUE(same_canonical(tree, back)) << text;
  }
}

TEST(JsonTree, SameCanonicalIsEqualityOfText) {
  const std::vector<Json> values = {nullptr,
                                    false,
                                    true,
                                    0,
                                    0u,
                                    -1,
                                    1,
                                    1u,
                                    1.0,
                                    0.0,
                                    -0.0,
                                    "",
                                    "1",
                                    "a",
                                    INT64_MIN,
                                    UINT64_MAX,
                                    -1.0,
                                    Json::array(),
                                    Json::object(),
                                    Json::array({1}),
                                    Json::array({1u}),
                                    Json::array({1.0}),
                                    Json{{"a", 1}, {"b", 2}},
                                    Json{{"b", 2}, {"a", 1}},
                                    Json{{"a", 1}},
                                    static_cast<double>(UINT64_MAX),
                                    static_cast<double>(INT64_MIN)};
  for (const Json& a : values)
    for (const Json& b : values)
      EXPECT_EQ(same_canonical(a, b),
                canonical(a).value().text == canonical(b).value().text)
          << a << " " << b;
}

TEST(JsonTree, SizeIsThatOfTheText) {
  for (const char* text :
       {"{}", "[]", "\"\"", R"({"a":[1,2.5,"\u0001\n\"é"],"b":{},"c":null})",
        "[[],[{}],true,false]", "-1"}) {
    const Json tree = parse_canonical(text);
    EXPECT_EQ(canonical_size(tree), std::strlen(text)) << text;
  }
  EXPECT_THROW(parse_canonical("{"), std::logic_error);
}

}  // namespace
}  // namespace satchel
