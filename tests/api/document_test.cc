// Document, Error and the layout for people.

#include "satchel/document.h"

#include <cmath>
#include <thread>

#include "json_support.h"

namespace satchel {
namespace {

Document doc(std::string_view text) { return Document::parse(text).value(); }

TEST(Document, DefaultIsTheEmptyObject) {
  EXPECT_EQ(Document().text(), "{}");
  EXPECT_EQ(Document().json(), Json::object());
  EXPECT_EQ(Document(), doc(" { } "));
}

TEST(Document, CopiesShareTextAndTree) {
  const Document a = doc(R"({"b":1,"a":[1.0,-0.0]})");
  const Document b = a;
  EXPECT_EQ(a.shared_text().get(), b.shared_text().get());
  EXPECT_EQ(&a.json(), &b.json());
  EXPECT_EQ(a.size_bytes(), a.text().size());
  EXPECT_EQ(a.json().dump(), a.text());
}

TEST(Document, TextAndTreeMeet) {
  const Document text = doc(R"({"z":[1,"é",{"k":null}],"a":2.50})");
  const Document tree = Document::from_json(text.json()).value();
  EXPECT_EQ(tree, text);
  EXPECT_NE(tree, Document());
}

TEST(Document, TreeIsBuiltOnceForAllThreads) {
  const Document document = doc(R"({"a":[1,2,3]})");
  std::vector<const Json*> seen(8);
  std::vector<std::thread> threads;
  for (auto& place : seen)
    threads.emplace_back([&] { place = &document.json(); });
  for (auto& thread : threads) thread.join();
  for (const Json* tree : seen) EXPECT_EQ(tree, &document.json());
}

TEST(Document, NamesGoodAndBadInput) {
  const JsonInput good = Json{{"a", 1}};
  EXPECT_EQ(good.document()->text(), R"({"a":1})");
  const JsonInput bad = Json{{"a", std::nan("")}};
  ASSERT_FALSE(bad.document().ok());
  EXPECT_EQ(bad.document().error().code, ErrorCode::invalid_input);
}

TEST(Pretty, LaysOutWithoutTouchingValues) {
  EXPECT_EQ(
      pretty(doc(R"({"a":[1.0,[],{}],"b{,}:":"x\"[{,:","c":{"d":null}})")),
      "{\n"
      "  \"a\": [\n"
      "    1.0,\n"
      "    [],\n"
      "    {}\n"
      "  ],\n"
      "  \"b{,}:\": \"x\\\"[{,:\",\n"
      "  \"c\": {\n"
      "    \"d\": null\n"
      "  }\n"
      "}");
  EXPECT_EQ(pretty(Document()), "{}");
  EXPECT_EQ(pretty(doc("\"\\\\\"")), "\"\\\\\"");
  EXPECT_EQ(pretty(doc("-12")), "-12");
}

TEST(Pretty, ReadsBackAsTheSameDocument) {
  const Document document =
      doc(R"({"a":[[["\\",1e+22]]],"":{"":[{}]},"z":-0.0})");
  EXPECT_EQ(doc(pretty(document)), document);
  EXPECT_EQ(pretty(document), document.json().dump(2));
}

TEST(ErrorPayload, DetailsStandBesideCodeAndMessage) {
  const Error error(ErrorCode::stale_write, "Read again.",
                    Json{{"current", {{"v", 1.0}}}, {"expected_version", 3}});
  EXPECT_EQ(error.to_payload(),
            R"({"ok":false,"error":{"code":"stale_write","message":"Read )"
            R"(again.","current":{"v":1.0},"expected_version":3}})");
  EXPECT_STREQ(error.what(), "Read again.");
}

TEST(ErrorPayload, IsValidWhateverItHolds) {
  Json deep = Json::array();
  for (int i = 0; i < 150; ++i) deep = Json::array({deep});
  const Error error(ErrorCode::internal_error, "bad \xFF byte\n",
                    Json{{"code", "no"},
                         {"message", "no"},
                         {"s", "\xC3"},
                         {"nan", std::nan("")},
                         {"deep", deep}});
  const Json payload = Json::parse(error.to_payload());
  EXPECT_EQ(payload["error"]["code"], "internal_error");
  EXPECT_EQ(payload["error"]["message"], "bad \xEF\xBF\xBD byte\n");
  EXPECT_EQ(payload["error"]["nan"], nullptr);
  EXPECT_EQ(payload["error"]["deep"], deep);
  EXPECT_EQ(error.to_payload().find('\n'), std::string::npos);
}

TEST(ErrorCodes, HaveNamesAndExitCodes) {
  const std::vector<std::pair<std::string_view, int>> expected = {
      {"handle_not_found", 1}, {"handle_expired", 1},  {"version_gone", 1},
      {"key_not_found", 1},    {"invalid_input", 2},   {"patch_error", 2},
      {"state_too_large", 2},  {"value_too_large", 2}, {"quota_exceeded", 2},
      {"type_mismatch", 2},    {"stale_write", 3},     {"request_conflict", 3},
      {"condition_failed", 3}, {"store_corrupt", 4},   {"backend_error", 5},
      {"internal_error", 5},   {"read_only", 5},       {"format_too_new", 5},
      {"not_a_store", 5},      {"store_closed", 5},    {"store_locked", 7}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_EQ(name(code), expected[i].first);
    EXPECT_EQ(exit_code(code), expected[i].second) << name(code);
  }
  EXPECT_EQ(static_cast<std::size_t>(ErrorCode::store_locked) + 1,
            expected.size());
}

}  // namespace
}  // namespace satchel
