#include "tools/serve/tool_arguments.h"

#include <gtest/gtest.h>

#include <functional>

#include "satchel/error.h"
#include "tools/serve/raw_json.h"
#include "tools/serve/tool_schemas.h"

namespace satchel::tools::serve {
namespace {

const std::vector<std::string> kKnown = {
    "handle", "expect_version", "ttl_days", "persist", "state", "ops"};

/// The field of the refusal, "" when there is none.
std::string field_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid_input);
    return error.details.value("field", "");
  }
  return "";
}

std::string with(const std::string& name, const std::string& value) {
  return "{\"" + name + "\":" + value + "}";
}

TEST(ToolArguments, TakeLosslessSpellingsOfIntegers) {
  for (const std::string value :
       {"3", "3.0", "3.000", "\"3\"", "\"3.0\"", "3e0", "30e-1"}) {
    const std::string text = with("expect_version", value);
    const ToolArguments arguments(text, kKnown);
    EXPECT_EQ(arguments.integer("expect_version"), 3u) << value;
  }
  const std::string most = with("expect_version", "18446744073709551615");
  EXPECT_EQ(ToolArguments(most, kKnown).integer("expect_version"),
            18446744073709551615u);
}

TEST(ToolArguments, RefuseWhatIsNoInteger) {
  for (const std::string value :
       {"3.5", "\" 3\"", "-1", "1e300", "true", "false", "\"\"", "\"three\"",
        "\"03\"", "3.00000000000000000001", "9007199254740992.5", "[3]", "{}",
        "18446744073709551616", "\"0x3\""}) {
    const std::string text = with("expect_version", value);
    const ToolArguments arguments(text, kKnown);
    EXPECT_EQ(field_of([&] { arguments.integer("expect_version"); }),
              "expect_version")
        << value;
  }
}

TEST(ToolArguments, NullIsAbsent) {
  const std::string text = R"({"handle":null,"state":null,"ttl_days":null})";
  const ToolArguments arguments(text, kKnown);
  EXPECT_FALSE(arguments.has("handle"));
  EXPECT_EQ(arguments.text("handle"), std::nullopt);
  EXPECT_EQ(arguments.lifetime().kind(), Ttl::Kind::keep);
  EXPECT_EQ(field_of([&] { arguments.state(); }), "state");
  EXPECT_FALSE(ToolArguments("null", kKnown).has("handle"));
}

TEST(ToolArguments, UnknownNamesAreRefusedWithTheNearest) {
  try {
    ToolArguments(R"({"hanlde":"x"})", kKnown);
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_NE(error.message.find("did you mean 'handle'"), std::string::npos)
        << error.message;
  }
  try {
    ToolArguments(R"({"ttl":1})", kKnown);
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_NE(error.message.find("did you mean 'ttl_days'"), std::string::npos)
        << error.message;
  }
  EXPECT_EQ(field_of([] { ToolArguments(R"({"user":"bob"})", kKnown); }),
            "arguments");
  EXPECT_EQ(field_of([] { ToolArguments("[]", kKnown); }), "arguments");
  EXPECT_EQ(field_of([] { ToolArguments("\"{}\"", kKnown); }), "arguments");
  EXPECT_EQ(field_of([] {
              ToolArguments(R"({"_meta":{},"explanation":1})", kKnown);
            }),
            "");
}

TEST(ToolArguments, ObjectsThatCameAsStringsAreDecodedOnce) {
  const std::string text = R"({"state":"{\"a\":[1,\"{}\"]}"})";
  EXPECT_EQ(ToolArguments(text, kKnown).state().text(), R"({"a":[1,"{}"]})");
  for (const std::string value :
       {R"("hello")", R"("\"{}\"")", "[]", "3", R"("[1]")", R"("{\"a\":}")"}) {
    const std::string other = with("state", value);
    const ToolArguments arguments(other, kKnown);
    EXPECT_EQ(field_of([&] { arguments.state(); }), "state") << value;
  }
}

TEST(ToolArguments, OpsThatCameAsStringsAreDecodedOnce) {
  const std::string op = R"({"op":"set_key","path":"","key":"k","value":"{}"})";
  for (const std::string& value : {"[" + op + "]", json_quoted("[" + op + "]"),
                                   "[" + json_quoted(op) + "]"}) {
    const std::string text = with("ops", value);
    EXPECT_EQ(ToolArguments(text, kKnown).ops().text(), "[" + op + "]");
  }
  const std::string merge =
      R"({"ops":[{"op":"merge","mapping":"{\"a\":\"{}\"}"}]})";
  EXPECT_EQ(ToolArguments(merge, kKnown).ops().text(),
            R"([{"op":"merge","mapping":{"a":"{}"}}])");
  const std::string wrong = with("ops", "3");
  const ToolArguments arguments(wrong, kKnown);
  EXPECT_EQ(field_of([&] { arguments.ops(); }), "ops");
}

TEST(ToolArguments, DuplicateKeysInsideAStringAreRefused) {
  const std::string text = R"({"state":"{\"a\":1,\"a\":2}"})";
  const ToolArguments arguments(text, kKnown);
  EXPECT_EQ(field_of([&] { arguments.state(); }), "state");
}

TEST(ToolArguments, LifetimesAreDays) {
  const auto us = [](const std::string& days) {
    const std::string text = with("ttl_days", days);
    return ToolArguments(text, kKnown).lifetime().duration().count();
  };
  EXPECT_EQ(us("1"), 86'400'000'000);
  EXPECT_EQ(us("\"0.5\""), 43'200'000'000);
  EXPECT_EQ(us("1.1574074074074073e-05"), 1'000'000);
  EXPECT_GT(us("1e308"), 8'000'000'000'000'000'000);
  EXPECT_EQ(us("0"), 0);
  for (const std::string text :
       {R"({"ttl_days":true})", R"({"ttl_days":1e400})",
        R"({"ttl_days":"soon"})", R"({"ttl_days":1,"persist":true})"}) {
    const ToolArguments arguments(text, kKnown);
    EXPECT_EQ(field_of([&] { arguments.lifetime(); }), "ttl_days") << text;
  }
  const std::string quoted_flag = R"({"persist":"true"})";
  const ToolArguments arguments(quoted_flag, kKnown);
  EXPECT_EQ(field_of([&] { arguments.lifetime(); }), "persist");
}

/// Every object in a schema, with what may not be in it.
void check_schema(const Json& node, const std::string& where) {
  if (!node.is_structured()) return;
  for (const auto& [key, value] : node.items()) {
    for (const char* word :
         {"oneOf", "anyOf", "allOf", "$ref", "$defs", "format"}) {
      EXPECT_NE(key, word) << where;
    }
    EXPECT_TRUE(key != "type" || value.is_string()) << where;
    check_schema(value, where + '/' + key);
  }
}

TEST(ToolSchemas, HoldOnlyWhatEveryHostTakes) {
  const Json tools = Json::parse(tool_schemas());
  ASSERT_EQ(tools.size(), 7u);
  for (const Json& tool : tools) {
    const std::string name = tool.at("name");
    EXPECT_EQ(tool.at("inputSchema").at("type"), "object") << name;
    EXPECT_FALSE(tool.contains("outputSchema")) << name;
    EXPECT_EQ(tool.at("annotations").at("openWorldHint"), false) << name;
    check_schema(tool.at("inputSchema"), name);
    for (const auto& [key, value] :
         tool.at("inputSchema").at("properties").items()) {
      EXPECT_TRUE(value.is_object()) << name << ' ' << key;
    }
  }
  EXPECT_EQ(tool_schemas().find('\n'), std::string_view::npos);
}

}  // namespace
}  // namespace satchel::tools::serve
