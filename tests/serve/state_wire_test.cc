// The wire of @guuey/state: bodies in, bodies and statuses out.

#include "tools/serve/state_wire.h"

#include <gtest/gtest.h>

#include "tests/support/fixture.h"

namespace satchel::tools::serve {
namespace {

class StateWireTest : public testing::Test, public test::StoreFixture {
 protected:
  StateWireTest() : StoreFixture(test::in_memory()) {
    caller_.user = "jwt:alice";
    caller_.wire_user = "alice";
    caller_.app = "mcp_1";
    open();
  }

  WireReply call(std::string_view op, const std::string& args) {
    return raw(op, R"({"context":{"userId":"alice","mcpId":"mcp_1"},"args":)" +
                       args + '}');
  }
  WireReply raw(std::string_view op, const std::string& body) {
    return answer_state_op(store(), op, body, caller_);
  }
  /// Status and body without the message.
  std::string told(const WireReply& reply) {
    auto body = Json::parse(reply.body);
    if (reply.status != 200) {
      EXPECT_FALSE(body.value("message", "").empty()) << reply.body;
      body.erase("message");
    }
    return std::to_string(reply.status) + ' ' + body.dump();
  }

  Caller caller_;
};

TEST_F(StateWireTest, AnswersEveryOperationAsTheClientReadsIt) {
  EXPECT_EQ(told(call("get", R"({"key":"k"})")), "200 {}");
  EXPECT_EQ(told(call("set", R"({"key":"k","value":{"a":1},"ttl":60})")),
            "200 {}");
  EXPECT_EQ(told(call("get", R"({"key":"k"})")), R"(200 {"result":{"a":1}})");
  EXPECT_EQ(told(call("has", R"({"key":"k"})")), R"(200 {"result":true})");
  EXPECT_EQ(told(call("increment", R"({"key":"c","by":5,"ttl":60})")),
            R"(200 {"result":5})");
  EXPECT_EQ(told(call("decrement", R"({"key":"c","ttl":0.5})")),
            R"(200 {"result":4})");
  EXPECT_EQ(told(call("mget", R"({"keys":["k","none","c"]})")),
            R"(200 {"result":{"c":4,"k":{"a":1}}})");
  EXPECT_EQ(told(call("keys", "{}")), R"(200 {"result":{"keys":["c","k"]}})");
  EXPECT_EQ(told(call("scope", "{}")),
            R"(200 {"result":{"userId":"alice","mcpId":"mcp_1",)"
            R"("usedBytes":10,"limitBytes":1048576,"keyCount":2}})");
  EXPECT_EQ(told(call("delete", R"({"key":"k"})")), "200 {}");
  EXPECT_EQ(told(call("has", R"({"key":"k"})")), R"(200 {"result":false})");
}

TEST_F(StateWireTest, ACursorIsTheLastKeyOfAPage) {
  for (const auto* key : {"p:e", "p:c", "p:a", "p:d", "p:b", "q"}) {
    (void)call("set",
               std::string(R"({"key":")") + key + R"(","value":1,"ttl":60})");
  }
  EXPECT_EQ(told(call("keys", R"({"prefix":"p:","limit":2})")),
            R"(200 {"result":{"keys":["p:a","p:b"],"cursor":"p:b"}})");
  EXPECT_EQ(told(call("keys", R"({"prefix":"p:","limit":2,"cursor":"p:d"})")),
            R"(200 {"result":{"keys":["p:e"]}})");
}

TEST_F(StateWireTest, FailuresHaveTheOriginalsCodesAndFields) {
  (void)call("set", R"({"key":"s","value":"text","ttl":60})");
  const std::pair<const char*, const char*> cases[] = {
      {R"(set {"key":"a b","value":1,"ttl":60})", "INVALID_KEY"},
      {R"(get {"key":7})", "INVALID_KEY"},
      {R"(get {})", "INVALID_KEY"},
      {R"(set {"key":"k","value":1})", "INVALID_TTL"},
      {R"(set {"key":"k","value":1,"ttl":null})", "INVALID_TTL"},
      {R"(set {"key":"k","value":1,"ttl":"60"})", "INVALID_TTL"},
      {R"(set {"key":"k","value":1,"ttl":0})", "INVALID_TTL"},
      {R"(set {"key":"k","value":1,"ttl":7776001})", "INVALID_TTL"},
      {R"(set {"key":"k","value":1,"ttl":1e308})", "INVALID_TTL"},
      {R"(set {"key":"k","ttl":60})", "INVALID_ARGUMENT"},
      {R"(set {"key":"k","value":1,"ttl":60,"more":1})", "INVALID_ARGUMENT"},
      {R"(set {"key":"k","value":1,"value":2,"ttl":60})", "INVALID_ARGUMENT"},
      {R"(increment {"key":"c","by":0.5,"ttl":60})", "INVALID_ARGUMENT"},
      {R"(increment {"key":"c","by":true,"ttl":60})", "INVALID_ARGUMENT"},
      {R"(increment {"key":"c","by":9007199254740992,"ttl":60})",
       "INVALID_ARGUMENT"},
      {R"(increment {"key":"s","ttl":60})", "TYPE_MISMATCH"},
      {R"(keys {"limit":0})", "INVALID_ARGUMENT"},
      {R"(keys {"limit":2.5})", "INVALID_ARGUMENT"},
      {R"(keys {"cursor":7})", "INVALID_ARGUMENT"},
      {R"(mget {"keys":"k"})", "INVALID_ARGUMENT"},
      {R"(mget {"keys":["a b"]})", "INVALID_KEY"},
      {R"(nope {})", "INVALID_ARGUMENT"},
      {R"(scope [])", "INVALID_ARGUMENT"},
  };
  for (const auto& [line, code] : cases) {
    const std::string_view text = line;
    const auto space = text.find(' ');
    const auto reply =
        call(text.substr(0, space), std::string(text.substr(space + 1)));
    EXPECT_EQ(reply.status, 400) << line << ' ' << reply.body;
    EXPECT_EQ(Json::parse(reply.body).value("code", ""), code) << line;
  }
  EXPECT_EQ(told(call("increment", R"({"key":"s","ttl":60})")),
            R"(400 {"code":"TYPE_MISMATCH","key":"s","actualType":"string"})");
  EXPECT_EQ(told(call("set", R"({"key":"k","value":1,"ttl":"x"})")),
            R"(400 {"code":"INVALID_TTL","ttl":"x",)"
            R"("reason":"must be a number of seconds"})");
  EXPECT_EQ(told(call("has", R"({"key":"k"})")), R"(200 {"result":false})");
}

TEST_F(StateWireTest, LimitsAreStatus413) {
  const auto big = [](std::size_t n) {
    return R"({"key":"k","ttl":60,"value":")" + std::string(n, 'x') + "\"}";
  };
  EXPECT_EQ(told(call("set", big(65'535))),
            R"(413 {"code":"VALUE_TOO_LARGE","valueBytes":65537,)"
            R"("limitBytes":65536})");
  for (int i = 0; i < 15; ++i) {
    const auto args = R"({"key":"k)" + std::to_string(i) +
                      R"(","ttl":60,"value":")" + std::string(65'000, 'x') +
                      "\"}";
    ASSERT_EQ(call("set", args).status, 200);
  }
  ASSERT_EQ(call("set", big(65'000)).status, 200);
  const auto reply = call("set", R"({"key":"l","ttl":60,"value":")" +
                                     std::string(65'000, 'x') + "\"}");
  EXPECT_EQ(reply.status, 413);
  const auto body = Json::parse(reply.body);
  EXPECT_EQ(body.value("code", ""), "QUOTA_EXCEEDED");
  EXPECT_LE(body.value("usedBytes", 0), 1048576);
  EXPECT_EQ(body.value("limitBytes", 0), 1048576);
}

TEST_F(StateWireTest, TheContextMustBeTheTokensOwn) {
  EXPECT_EQ(told(raw("get", R"({"context":{"userId":"bob","mcpId":"mcp_1"},)"
                            R"("args":{"key":"k"}})")),
            R"(403 {"code":"INVALID_CONTEXT","field":"userId",)"
            R"("reason":"is not that of the token"})");
  EXPECT_EQ(told(raw("get", R"({"context":{"userId":"alice","mcpId":"x"},)"
                            R"("args":{"key":"k"}})")),
            R"(403 {"code":"INVALID_CONTEXT","field":"mcpId",)"
            R"("reason":"is not that of the token"})");
  EXPECT_EQ(raw("get", R"({"args":{"key":"k"}})").status, 400);
  caller_.app.clear();
  EXPECT_EQ(call("get", R"({"key":"k"})").status, 403);
}

TEST_F(StateWireTest, BodiesThatAreNoRequestAreRefused) {
  for (const auto* body :
       {"", "garbage", "[]", "null", R"({"context":1,"context":2})",
        R"({"context":{"userId":"alice","mcpId":"mcp_1"},"args":{},"x":1})",
        "{\"context\":\"\xff\"}"}) {
    const auto reply = raw("scope", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_EQ(Json::parse(reply.body).value("code", "").substr(0, 8),
              "INVALID_")
        << body;
  }
}

TEST_F(StateWireTest, AFailureOfOursIsUnavailable) {
  store().close().value();
  const auto reply = call("get", R"({"key":"k"})");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(Json::parse(reply.body).value("code", ""), "UNAVAILABLE");
  verify_at_end_ = false;
}

TEST_F(StateWireTest, DigitsAndPrototypesSurvive) {
  (void)call("set", R"({"key":"__proto__","ttl":60,)"
                    R"("value":[725653563933458432,-0.0,1.0,"\u0000"]})");
  EXPECT_EQ(call("mget", R"({"keys":["__proto__"]})").body,
            R"({"result":{"__proto__":[725653563933458432,-0.0,1.0,)"
            R"("\u0000"]}})");
}

}  // namespace
}  // namespace satchel::tools::serve
