#pragma once
// A server without a transport, on a store in memory: messages in, answers
// out.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "satchel/json.h"
#include "tests/support/fixture.h"
#include "tools/serve/protocol.h"
#include "tools/serve/services.h"

namespace satchel::tools::serve {

class ServerFixture : public testing::Test {
 protected:
  ServerFixture() {
    caller_.user = test::kUser;
    caller_.writer = "test";
  }

  /// The whole response.
  Json ask(const std::string& method, const Json& params = Json()) {
    Json request = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}};
    if (!params.is_null()) request["params"] = params;
    const auto read = read_message(request.dump());
    const auto answer = protocol_.answer(std::get<Message>(read), caller_);
    status_ = answer.http_status;
    return Json::parse(answer.body);
  }
  /// Whatever is answered to `text`.
  std::string answer_text(const std::string& text) {
    return protocol_.answer(std::get<Message>(read_message(text)), caller_)
        .body;
  }
  /// The same in the modern era.
  Json ask_modern(const std::string& method, Json params = Json::object(),
                  const std::string& version = "2026-07-28") {
    const std::string prefix = "io.modelcontextprotocol/";
    params["_meta"] = {{prefix + "protocolVersion", version},
                       {prefix + "clientCapabilities", Json::object()}};
    return ask(method, params);
  }
  /// The code of a response that is an error; 0 when it is none.
  static int code(const Json& response) {
    return response.value("error", Json::object()).value("code", 0);
  }

  /// The object of a tool call.
  Json call(const std::string& tool, const Json& arguments) {
    const Json result =
        ask("tools/call", {{"name", tool}, {"arguments", arguments}})
            .at("result");
    const Json object = result.at("structuredContent");
    EXPECT_EQ(object.value("ok", false), !result.value("isError", false));
    EXPECT_EQ(Json::parse(result["content"][0].value("text", "")), object);
    return object;
  }
  /// "code(field)" of a refusal.
  std::string refusal(const std::string& tool, const Json& arguments) {
    const Json object = call(tool, arguments);
    const Json error = object.value("error", Json::object());
    const std::string field = error.value("field", "");
    return error.value("code", "") +
           (field.empty() ? field : '(' + field + ')');
  }
  /// A new handle of kind note.
  std::string create(Json more = Json::object()) {
    more["kind"] = "note";
    more.emplace("state", Json{{"n", 1}});
    return call("state_save", more).value("handle", "");
  }

  std::shared_ptr<test::TestClock> clock_ = std::make_shared<test::TestClock>();
  Caller caller_;
  /// Of the last answer, on HTTP.
  int status_ = 0;

 private:
  StoreSource store_{[this] {
    Options options;
    options.clock = clock_;
    options.sweeper = false;
    return HandleStore::open("memory:", options).value();
  }};

 protected:
  Services services_{store_};

 private:
  Protocol protocol_{services_};
};

}  // namespace satchel::tools::serve
