// Both eras of the protocol, resources and the prompt.

#include <gmock/gmock.h>

#include "tests/serve/server_fixture.h"

namespace satchel::tools::serve {
namespace {

using testing::HasSubstr;

using ProtocolTest = ServerFixture;

TEST_F(ProtocolTest, TheHandshakeAgreesOnAVersionThatBothKnow) {
  const auto agreed = [&](const std::string& version) {
    return ask("initialize",
               {{"protocolVersion", version}, {"capabilities", Json::object()}})
        .at("result");
  };
  for (const auto version : kLegacyVersions) {
    EXPECT_EQ(agreed(std::string(version)).value("protocolVersion", ""),
              version);
  }
  const Json result = agreed("1999-01-01");
  EXPECT_EQ(result.value("protocolVersion", ""), "2025-11-25");
  EXPECT_THAT(result.value("instructions", ""), HasSubstr("state_list"));
  EXPECT_EQ(result["capabilities"]["resources"], Json::object());
  EXPECT_EQ(ask("ping").at("result"), Json::object());
}

TEST_F(ProtocolTest, DiscoveryNeedsItsMeta) {
  const Json result = ask_modern("server/discover").at("result");
  EXPECT_EQ(result["supportedVersions"], Json::array({"2026-07-28"}));
  EXPECT_THAT(result.value("instructions", ""), HasSubstr("state_list"));
  EXPECT_EQ(code(ask("server/discover")), -32602);
  const Json refused =
      ask_modern("server/discover", Json::object(), "2031-01-01");
  EXPECT_EQ(code(refused), -32022);
  EXPECT_EQ(refused["error"]["data"]["requested"], "2031-01-01");
  EXPECT_EQ(status_, 400);
}

TEST_F(ProtocolTest, SubscriptionsAreNotOffered) {
  const Json any = {{"uri", "state://none"}};
  for (const char* method : {"resources/subscribe", "resources/unsubscribe"}) {
    EXPECT_EQ(ask(method, any).at("result"), Json::object()) << method;
    EXPECT_EQ(code(ask_modern(method, any)), -32601) << method;
  }
  EXPECT_EQ(code(ask_modern("subscriptions/listen")), -32601);
  EXPECT_EQ(status_, 404);
  EXPECT_EQ(code(ask("no/such")), -32601);
}

TEST_F(ProtocolTest, UnknownToolsAndParametersThatAreNoObjectAreRefused) {
  const Json unknown = ask("tools/call", {{"name", "state_lode"}});
  EXPECT_EQ(code(unknown), -32602);
  EXPECT_THAT(unknown["error"].value("message", ""), HasSubstr("state_load"));
  for (const Json& params : Json::array({1, "x", Json::array({1})})) {
    EXPECT_EQ(code(ask("tools/call", params)), -32602) << params;
  }
}

TEST_F(ProtocolTest, AResourceIsWhatStateLoadGives) {
  const auto handle = create();
  const Json uri = {{"uri", "state://" + handle}};
  const Json listed = ask("resources/list").at("result");
  ASSERT_EQ(listed["resources"].size(), 1u);
  EXPECT_EQ(listed["resources"][0]["uri"], uri["uri"]);
  const Json read = ask("resources/read", uri).at("result")["contents"][0];
  EXPECT_EQ(read["uri"], uri["uri"]);
  EXPECT_EQ(Json::parse(read.value("text", "")),
            call("state_load", {{"handle", handle}}));
  const Json templates = ask("resources/templates/list").at("result");
  EXPECT_EQ(templates["resourceTemplates"][0]["uriTemplate"],
            "state://{handle}");
  const Json none = {{"uri", "state://none"}};
  EXPECT_EQ(code(ask("resources/read", none)), -32002);
  EXPECT_EQ(code(ask_modern("resources/read", none)), -32602);
  EXPECT_EQ(code(ask("resources/read", {{"uri", "file:///etc/passwd"}})),
            -32002);
  caller_.user = "mallory";
  EXPECT_EQ(code(ask("resources/read", uri)), -32002);
  EXPECT_EQ(ask("resources/list").at("result")["resources"].size(), 0u);
}

TEST_F(ProtocolTest, ABatchIsAnsweredWithinWhatClientsRead) {
  const auto handle = create({{"state", {{"t", std::string(400'000, 'x')}}}});
  std::string batch = "[";
  for (int i = 0; i < 100; ++i) {
    const Json params = i % 2 == 0 ? Json{{"name", "state_load"},
                                          {"arguments", {{"handle", handle}}}}
                                   : Json();
    Json request = {{"jsonrpc", "2.0"}, {"id", i}, {"method", "tools/call"}};
    request["params"] = params;
    if (i % 2 != 0) {
      request["method"] = "tools/list";
      request.erase("params");
    }
    batch += (i == 0 ? "" : ",") + request.dump();
  }
  const auto text = answer_text(batch + ']');
  EXPECT_LT(text.size(), std::size_t{10} << 20);
  const Json answers = Json::parse(text);
  ASSERT_EQ(answers.size(), 100u);
  EXPECT_TRUE(answers[0]["result"]["structuredContent"].value("ok", false));
  const Json refused = answers[98]["result"]["structuredContent"]["error"];
  EXPECT_EQ(refused.value("code", ""), "state_too_large");
  EXPECT_EQ(refused.value("limit_bytes", 0), 10 << 20);
}

TEST_F(ProtocolTest, ThePromptAsksToGoOnWithEarlierWork) {
  const Json prompt = ask("prompts/list").at("result")["prompts"][0];
  EXPECT_EQ(prompt.value("name", ""), "resume");
  EXPECT_EQ(prompt["arguments"][0].value("required", true), false);
  const auto text = [&](const Json& arguments) {
    return ask("prompts/get", {{"name", "resume"}, {"arguments", arguments}})
        .at("result")["messages"][0]["content"]
        .value("text", "");
  };
  EXPECT_THAT(text(Json::object()), HasSubstr("state_list"));
  EXPECT_THAT(text({{"kind", "research"}}), HasSubstr("\"research\""));
  EXPECT_EQ(code(ask("prompts/get", {{"name", "other"}})), -32602);
  EXPECT_EQ(code(ask("prompts/get",
                     {{"name", "resume"}, {"arguments", {{"kind", "A b"}}}})),
            -32602);
}

TEST_F(ProtocolTest, ModernAnswersSayHowLongTheyHold) {
  const Json tools = ask_modern("tools/list").at("result");
  EXPECT_EQ(tools.value("resultType", ""), "complete");
  EXPECT_GT(tools.value("ttlMs", 0), 0);
  EXPECT_EQ(ask_modern("resources/list").at("result").value("ttlMs", -1), 0);
  EXPECT_FALSE(ask("tools/list").at("result").contains("ttlMs"));
}

}  // namespace
}  // namespace satchel::tools::serve
