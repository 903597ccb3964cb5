#include "tools/serve/message.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "satchel/json.h"
#include "tests/support/program.h"
#include "tools/serve/raw_json.h"

namespace satchel::tools::serve {
namespace {

Message read(const std::string& text) {
  auto result = read_message(text);
  if (const auto* error = std::get_if<RpcError>(&result)) {
    ADD_FAILURE() << text << " was refused: " << error->message;
    return {};
  }
  return std::get<Message>(result);
}

RpcError refusal(const std::string& text) {
  auto result = read_message(text);
  const auto* error = std::get_if<RpcError>(&result);
  EXPECT_TRUE(error) << text << " was read";
  return error ? *error : RpcError{};
}

TEST(Message, KeepsIdsAsTheyWereSent) {
  for (const std::string id :
       {"0", "-1", "9007199254740993", "\"\"", "\"0\"", "\"a\\u0062\""}) {
    const Message message =
        read("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"ping\"}");
    EXPECT_EQ(message.id, id);
    EXPECT_EQ(message.kind, MessageKind::request);
  }
}

TEST(Message, RefusesIdsThatCannotBeEchoed) {
  for (const std::string id : {"null", "1.5", "1e2", "{}", "[]", "true"}) {
    const RpcError error =
        refusal("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"ping\"}");
    EXPECT_EQ(error.code, rpc::kInvalidRequest) << id;
    EXPECT_EQ(error.id, "") << id;
    EXPECT_EQ(error.http_status, 400);
  }
}

TEST(Message, RefusesAMemberThatStandsTwiceAnywhere) {
  const std::string head = R"({"jsonrpc":"2.0","id":"x","method":"m")";
  for (const std::string rest :
       {R"(,"method":"m"})", R"(,"params":{"a":{"b":[{"c":1,"c":2}]}}})",
        R"(,"params":{"a":1,"\u0061":2}})",
        R"(,"params":{"\ud800":1,"\ud800":2}})"}) {
    const RpcError error = refusal(head + rest);
    EXPECT_EQ(error.code, rpc::kInvalidRequest) << rest;
    EXPECT_EQ(error.id, "\"x\"") << rest;
  }
  EXPECT_EQ(read(head + R"(,"params":{"a":{"b":1},"c":{"b":1}}})").method, "m");
}

TEST(Message, KnowsNoIdWhenTheIdStandsTwice) {
  const RpcError error =
      refusal(R"({"jsonrpc":"2.0","id":1,"id":1,"method":"m"})");
  EXPECT_EQ(error.code, rpc::kParseError);
  EXPECT_EQ(error.id, "");
  EXPECT_EQ(Json::parse(error.body()).contains("id"), false);
}

TEST(Message, RefusesWhatIsNoMessage) {
  for (const std::string text :
       {"", "garbage", "{", "\xFF", "{\"a\":\"\xC3\"}", "[1,]", "{\"a\":01}",
        "nul", "\"\\x\"", "\xEF\xBB\xBF{}", "{\"a\":\"\n\"}"}) {
    EXPECT_EQ(refusal(text).code, rpc::kParseError) << text;
  }
  for (const std::string text :
       {"null", "42", "\"x\"", "{}", "[]", R"({"id":1,"method":"m"})",
        R"({"jsonrpc":"2.0","id":1,"method":7})",
        R"({"jsonrpc":2.0,"id":1,"method":"m"})"}) {
    EXPECT_EQ(refusal(text).code, rpc::kInvalidRequest) << text;
  }
}

TEST(Message, TakesNestingThatOnlyAStateMayNotHave) {
  constexpr std::size_t kDeep = 200'000;
  const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{)"
                           "\"a\":" +
                           std::string(kDeep, '[') + std::string(kDeep, ']') +
                           "}}";
  const Message message = read(text);
  EXPECT_EQ(member_of(message.params, "a")->size(), 2 * kDeep);
}

TEST(Message, NestingThatOnlyEatsMemoryIsRefused) {
  const std::string deep(std::size_t{9} << 20, '[');
  EXPECT_EQ(refusal(deep).code, rpc::kParseError);
  EXPECT_FALSE(scan(deep + std::string(deep.size(), ']')).json);
}

TEST(Message, IsModernWhenItsMetaClaimsAVersion) {
  const std::string head =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":)";
  const Message modern =
      read(head + R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"V",)"
                  R"("io.modelcontextprotocol/clientInfo":{"name":"c"}}}})");
  EXPECT_TRUE(modern.modern);
  EXPECT_EQ(modern.version, "V");
  EXPECT_EQ(modern.client_name, "c");
  EXPECT_TRUE(
      read(head + R"({"_meta":{"io.modelcontextprotocol/protocolVersion":1}}})")
          .modern);
  EXPECT_FALSE(read(head + R"({"_meta":{"progressToken":1}}})").modern);
  EXPECT_FALSE(read(head + "null}").bad_params);
  EXPECT_TRUE(read(head + "[]}").bad_params);
}

TEST(Message, TellsRequestsNotificationsAndResponsesApart) {
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","method":"n"})").kind,
            MessageKind::notification);
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind,
            MessageKind::response);
  const Message batch = read(R"([{"jsonrpc":"2.0","id":1,"method":"m"},3])");
  ASSERT_EQ(batch.kind, MessageKind::batch);
  ASSERT_EQ(batch.elements.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Message>(batch.elements[0]));
  EXPECT_TRUE(std::holds_alternative<RpcError>(batch.elements[1]));
}

TEST(RawJson, AgreesWithTheJsonTestSuiteOnWhatIsJson) {
  const auto folder = std::filesystem::path(test::test_data()) /
                      "json-test-suite" / "test_parsing";
  if (test::test_data().empty() || !std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "the JSON test suite is not here (SATCHEL_TEST_DATA)";
  }
  class Files : public test::ProgramTest {
   public:
    using ProgramTest::read_file;

   private:
    void TestBody() override {}
  };
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const bool json = scan(Files::read_file(entry.path())).json;
    if (name.starts_with("i_")) continue;
    EXPECT_EQ(json, name.starts_with("y_")) << name;
    ++seen;
  }
  EXPECT_GT(seen, 250);
}

TEST(RawJson, ReadsMembersItemsAndText) {
  const std::string text =
      R"( {"a\"b" : [1 , {"x":"]"},"s"] , "c":"é\n\ud83c\udf89"} )";
  ASSERT_TRUE(scan(text).json);
  const auto members = members_of(text);
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].key, "a\"b");
  const auto items = items_of(members[0].value);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[1], R"({"x":"]"})");
  EXPECT_EQ(text_of(*member_of(text, "c")), "é\n🎉");
  EXPECT_EQ(text_of("\"\\ud800\""), std::nullopt);
  EXPECT_EQ(items_of(" [ ] ").size(), 0u);
  EXPECT_EQ(members_of("{}").size(), 0u);
}

}  // namespace
}  // namespace satchel::tools::serve
