// Patch ops on a tree: what each does, what is refused and why, and that a
// refused list leaves the tree as it was.

#include "api/patch_apply.h"

#include <limits>

#include "api/json_text.h"
#include "json_support.h"
#include "satchel/patch.h"

namespace satchel {
namespace {

constexpr std::size_t kNoLimit = std::size_t{1} << 30;

std::vector<PatchOp> ops_of(const Json& ops) {
  return parse_ops(Document::from_json(ops).value()).value();
}

/// Reason (patch_error) or code of the refusal of `ops` as such.
std::string malformed(const Json& ops) {
  const auto parsed = parse_ops(Document::from_json(ops).value());
  if (parsed) return "accepted";
  const Error& error = parsed.error();
  if (error.code != ErrorCode::patch_error) {
    EXPECT_EQ(error.details["field"], "ops");
    return std::string(name(error.code));
  }
  EXPECT_TRUE(error.details.contains("op") && error.details.contains("path"));
  return error.details["index"].dump() + " " +
         error.details["reason"].get<std::string>();
}

struct Outcome {
  std::string text;
  bool changed = false;
  Json error;
};

/// Applies and checks what must hold whatever the ops: the size is that of the
/// text, "changed" is inequality of text, a refusal changes nothing.
Outcome run(std::string_view state, const Json& ops,
            std::size_t limit = kNoLimit) {
  Json root = parse_canonical(state);
  std::size_t size = state.size();
  const auto result = apply_ops(root, size, ops_of(ops), limit);
  Outcome outcome;
  append_canonical(root, &outcome.text);
  EXPECT_EQ(size, outcome.text.size()) << outcome.text;
  outcome.changed = outcome.text != state;
  if (result) {
    EXPECT_EQ(*result, outcome.changed) << outcome.text;
  } else {
    EXPECT_EQ(outcome.text, state) << ops;
    outcome.error = result.error().details;
    outcome.error["code"] = name(result.error().code);
  }
  return outcome;
}

std::string after(std::string_view state, const Json& ops) {
  const Outcome outcome = run(state, ops);
  return outcome.error.is_null() ? outcome.text : outcome.error.dump();
}

std::string reason_of(std::string_view state, const Json& op) {
  const Outcome outcome = run(state, op);
  if (outcome.error.is_null()) return "applied";
  EXPECT_EQ(outcome.error["code"], "patch_error");
  EXPECT_EQ(outcome.error["index"], 0);
  EXPECT_EQ(outcome.error["op"], op["op"]);
  EXPECT_EQ(outcome.error["path"], op["path"]);
  return outcome.error["reason"].get<std::string>();
}

TEST(PatchOps, EachDoesItsWork) {
  EXPECT_EQ(after(R"({"l":[1]})", op::append("l", "x")), R"({"l":[1,"x"]})");
  EXPECT_EQ(after("{}", op::set_key("", "k", {1})), R"({"k":[1]})");
  EXPECT_EQ(after(R"({"k":1,"b":2})", op::set_key("", "k", nullptr)),
            R"({"k":null,"b":2})");
  EXPECT_EQ(after(R"({"a":1,"b":2,"c":3})", op::del_key("", "b")),
            R"({"a":1,"c":3})");
  EXPECT_EQ(after(R"({"a":{"x":1}})",
                  op::merge(Json{{"y", nullptr}, {"x", {{"z", 2}}}}, "a")),
            R"({"a":{"x":{"z":2},"y":null}})");
  EXPECT_EQ(after(R"({"n":1})", op::increment("", "n", -3)), R"({"n":-2})");
  EXPECT_EQ(after(R"({"l":[1]})", op::add_to_set("l", 1.0)),
            R"({"l":[1,1.0]})");
  EXPECT_EQ(after(R"({"l":[1,2,1,3,1]})", op::remove_value("l", 1)),
            R"({"l":[2,3]})");
  EXPECT_EQ(after(R"({"l":[1]})", op::remove_value("l", 1)), R"({"l":[]})");
}

TEST(PatchOps, PointersReachWhatDotsCannot) {
  constexpr std::string_view kState =
      R"({"a.b":[1],"a":{"b":[2]},"":{"":[3]},"/s":[4],"l":[{"x":[5]}]})";
  EXPECT_EQ(run(kState, op::append("a.b", 9)).text,
            R"({"a.b":[1],"a":{"b":[2,9]},"":{"":[3]},"/s":[4],)"
            R"("l":[{"x":[5]}]})");
  EXPECT_NE(after(kState, op::append("/a.b", 9)).find(R"("a.b":[1,9])"),
            std::string::npos);
  EXPECT_NE(after(kState, op::append("//", 9)).find(R"("":[3,9])"),
            std::string::npos);
  EXPECT_NE(after(kState, op::append("/~1s", 9)).find(R"("/s":[4,9])"),
            std::string::npos);
  EXPECT_NE(after(kState, op::append("/l/0/x", 9)).find(R"("x":[5,9])"),
            std::string::npos);
}

TEST(PatchOps, KeysAreLiteral) {
  const Json ops = {op::set_key("", "github.com/a.b", 1),
                    op::set_key("x", "a.b", 2), op::merge(Json{{"c.d", 3}}),
                    op::del_key("", "x.a.b"),
                    op::set_key("", "__proto__", Json{{"isAdmin", true}})};
  EXPECT_EQ(after(R"({"x":{}})", ops),
            R"({"x":{"a.b":2},"github.com/a.b":1,"c.d":3,)"
            R"("__proto__":{"isAdmin":true}})");
  EXPECT_EQ(after(R"({"k\u0000x":[],"k":[]})",
                  op::append(std::string_view("k\0x", 3), 1)),
            R"({"k\u0000x":[1],"k":[]})");
  EXPECT_EQ(
      after("{\"\xC3\xA9\":1,\"e\xCC\x81\":2}", op::del_key("", "\xC3\xA9")),
      "{\"e\xCC\x81\":2}");
}

TEST(PatchOps, WrongPathsAreNamed) {
  constexpr std::string_view kState =
      R"({"":[],"a":{"":{"x":[]}},"l":[1],"s":"t"})";
  EXPECT_EQ(reason_of(kState, op::append("", 1)), "expected_list");
  EXPECT_EQ(reason_of(kState, op::append("a", 1)), "expected_list");
  EXPECT_EQ(reason_of(kState, op::add_to_set("s", 1)), "expected_list");
  EXPECT_EQ(reason_of(kState, op::remove_value("s", 1)), "expected_list");
  EXPECT_EQ(reason_of(kState, op::append("b", 1)), "not_found");
  EXPECT_EQ(reason_of(kState, op::append("l.0", 1)), "expected_object");
  EXPECT_EQ(reason_of(kState, op::append("/l/-", 1)), "bad_index");
  EXPECT_EQ(reason_of(kState, op::append("/l/00", 1)), "bad_index");
  EXPECT_EQ(reason_of(kState, op::append("/l/1", 1)), "index_out_of_range");
  EXPECT_EQ(reason_of(kState, op::set_key("l", "k", 1)), "expected_object");
  EXPECT_EQ(reason_of(kState, op::set_key("s.t", "k", 1)), "expected_object");
  EXPECT_EQ(reason_of(kState, op::merge(Json::object(), "l")),
            "expected_object");
  EXPECT_EQ(reason_of(kState, op::del_key("b", "k")), "not_found");
  EXPECT_EQ(reason_of(kState, op::increment("", "s", 1)), "expected_number");
  EXPECT_EQ(reason_of(kState, op::increment("", "n", 1)), "not_found");
  for (const char* path : {".", ".x", "a.", "a..x"})
    EXPECT_EQ(malformed(op::append(path, 1)), "0 empty_segment") << path;
  EXPECT_EQ(malformed(op::append("/~2", 1)), "0 bad_escape");
}

TEST(PatchOps, CreateMakesObjectsOnly) {
  const auto made = [](const Json& op) { return after("{}", op::create(op)); };
  EXPECT_EQ(made(op::append("a.b.c", 1)), R"({"a":{"b":{"c":[1]}}})");
  EXPECT_EQ(made(op::add_to_set("/0/x.y", 1)), R"({"0":{"x.y":[1]}})");
  EXPECT_EQ(made(op::set_key("a.b", "k", 1)), R"({"a":{"b":{"k":1}}})");
  EXPECT_EQ(made(op::merge(Json{{"k", 1}}, "a.b")), R"({"a":{"b":{"k":1}}})");
  EXPECT_EQ(made(op::merge(Json::object(), "a")), R"({"a":{}})");
  EXPECT_EQ(made(op::increment("a", "n", 5)), R"({"a":{"n":5}})");
  EXPECT_EQ(made(op::increment("", "n", -0.0)), R"({"n":0.0})");
  EXPECT_EQ(made(op::del_key("a.b", "k")), "{}");
  EXPECT_EQ(made(op::remove_value("a.b", 1)), "{}");
  constexpr std::string_view kState = R"({"a":{},"n":null,"l":[{}]})";
  EXPECT_EQ(after(kState, op::create(op::append("a.b", 1))),
            R"({"a":{"b":[1]},"n":null,"l":[{}]})");
  EXPECT_EQ(after(kState, op::create(op::append("/l/0/x", 1))),
            R"({"a":{},"n":null,"l":[{"x":[1]}]})");
  EXPECT_EQ(reason_of(kState, op::create(op::append("n", 1))), "expected_list");
  EXPECT_EQ(reason_of(kState, op::create(op::append("n.x", 1))),
            "expected_object");
  EXPECT_EQ(reason_of(kState, op::create(op::append("/l/1", 1))),
            "index_out_of_range");
}

TEST(PatchOps, IncrementIsExactOrRefused) {
  EXPECT_EQ(after(R"({"n":9223372036854775807})", op::increment("", "n", 1)),
            R"({"n":9223372036854775808})");
  EXPECT_EQ(
      after(R"({"n":18446744073709551615})", op::increment("", "n", INT64_MIN)),
      R"({"n":9223372036854775807})");
  EXPECT_EQ(after(R"({"n":-9223372036854775808})",
                  op::increment("", "n", UINT64_MAX)),
            R"({"n":9223372036854775807})");
  EXPECT_EQ(after(R"({"n":1})", op::increment("", "n", 0.5)), R"({"n":1.5})");
  EXPECT_EQ(after(R"({"n":1.5})", op::increment("", "n", 1)), R"({"n":2.5})");
  EXPECT_EQ(after(R"({"n":1})", op::increment("", "n", 0.0)), R"({"n":1.0})");
  EXPECT_EQ(
      reason_of(R"({"n":18446744073709551615})", op::increment("", "n", 1)),
      "integer_overflow");
  EXPECT_EQ(
      reason_of(R"({"n":-9223372036854775808})", op::increment("", "n", -1)),
      "integer_overflow");
  EXPECT_EQ(reason_of(R"({"n":1.7976931348623157e+308})",
                      op::increment("", "n", 1e308)),
            "not_finite");
}

TEST(PatchOps, MalformedOpsNameTheirIndex) {
  EXPECT_EQ(malformed("x"), "invalid_input");
  EXPECT_EQ(malformed(nullptr), "invalid_input");
  EXPECT_EQ(malformed(Json::array()), "accepted");
  EXPECT_EQ(malformed(Json(1000, op::append("l", 1))), "accepted");
  EXPECT_EQ(malformed(Json(1001, op::append("l", 1))), "invalid_input");
  const auto second = [](const char* text) {
    return malformed(Json::array({op::append("l", 1), Json::parse(text)}));
  };
  EXPECT_EQ(second("7"), "1 wrong_type");
  EXPECT_EQ(second("{}"), "1 missing_member");
  EXPECT_EQ(second(R"({"op":3})"), "1 wrong_type");
  EXPECT_EQ(second(R"({"op":"replace","path":""})"), "1 unknown_op");
  EXPECT_EQ(second(R"({"op":"append","value":1})"), "1 missing_member");
  EXPECT_EQ(second(R"({"op":"append","path":""})"), "1 missing_member");
  EXPECT_EQ(second(R"({"op":"append","path":1,"value":1})"), "1 wrong_type");
  EXPECT_EQ(second(R"({"op":"append","path":"","value":1,"key":"k"})"),
            "1 unknown_member");
  EXPECT_EQ(second(R"({"op":"del_key","path":"","key":"k","value":1})"),
            "1 unknown_member");
  EXPECT_EQ(second(R"({"op":"set_key","path":"","key":3,"value":1})"),
            "1 wrong_type");
  EXPECT_EQ(second(R"({"op":"merge","mapping":[]})"), "1 wrong_type");
  EXPECT_EQ(second(R"({"op":"increment","path":"","key":"n"})"),
            "1 missing_member");
  EXPECT_EQ(second(R"({"op":"increment","path":"","key":"n","by":true})"),
            "1 wrong_type");
  EXPECT_EQ(second(R"({"op":"append","path":"","value":1,"create":1})"),
            "1 wrong_type");
  EXPECT_EQ(second(R"({"op":"merge","mapping":{},"create":false})"),
            "accepted");
}

TEST(PatchOps, RefusalsDoNotEchoLargeInput) {
  const std::string path(100'000, 'p');
  const auto refused = apply_ops(*std::make_unique<Json>(Json::object()),
                                 *std::make_unique<std::size_t>(2),
                                 ops_of(op::append(path, 1)), kNoLimit);
  EXPECT_LT(refused.error().to_payload().size(), 2'000u);
  const auto unknown = parse_ops(
      Document::from_json(Json{{"op", std::string(100'000, 'x')}}).value());
  EXPECT_LT(unknown.error().to_payload().size(), 2'000u);
}

TEST(PatchLists, ARefusedOpUndoesThoseBefore) {
  constexpr std::string_view kState =
      R"({"b":1,"a":[1,2,1],"o":{"x":1,"y":[0],"z":3},"n":5})";
  Json ops = {op::set_key("", "b", "other"),
              op::append("a", {1, 2}),
              op::remove_value("a", 1),
              op::del_key("o", "x"),
              op::append("o.y", 1),
              op::del_key("o", "y"),
              op::merge(Json{{"z", 4}, {"new", 5}}, "o"),
              op::increment("", "n", 1),
              op::del_key("", "b"),
              op::create(op::append("q.r", 1)),
              op::append("q.r", 2),
              op::del_key("", "o")};
  EXPECT_EQ(after(kState, ops), R"({"a":[2,[1,2]],"n":6,"q":{"r":[1,2]}})");
  ops.push_back(op::append("nowhere", 1));
  const Outcome outcome = run(kState, ops);
  EXPECT_EQ(outcome.text, kState);
  EXPECT_EQ(outcome.error["index"], 12);
  EXPECT_EQ(outcome.error["reason"], "not_found");
}

TEST(PatchLists, WhatChangesNoByteIsNoChange) {
  constexpr std::string_view kState = R"({"a":1,"b":{"c":[1,2]},"f":1.0})";
  for (const Json& ops :
       {Json(Json::array()), op::del_key("", "x"), op::merge(Json::object()),
        op::set_key("", "a", 1), op::set_key("b", "c", {1, 2}),
        op::merge(Json{{"a", 1u}, {"f", 1.0}}), op::add_to_set("b.c", 2),
        op::remove_value("b.c", 9), op::increment("", "a", 0),
        op::increment("", "f", 0),
        Json{op::set_key("", "a", 2), op::set_key("", "a", 1)},
        Json{op::increment("", "a", 1), op::increment("", "a", -1)},
        Json{op::append("b.c", 3), op::remove_value("b.c", 3)},
        Json{op::set_key("", "z", 1), op::del_key("", "z")},
        Json{op::del_key("", "f"), op::set_key("", "f", 1.0)},
        Json{op::set_key("b", "c", {3, 2}), op::del_key("b", "c"),
             op::set_key("b", "c", {1, 2})},
        Json{op::set_key("", "b", Json{{"c", 3}}),
             op::set_key("b", "c", {1, 2})}}) {
    const Outcome outcome = run(kState, ops);
    EXPECT_TRUE(outcome.error.is_null()) << ops;
    EXPECT_FALSE(outcome.changed) << ops;
  }
}

TEST(PatchLists, EqualSizeDoesNotHideAChange) {
  constexpr std::string_view kState = R"({"a":1,"b":2,"l":["x","y"]})";
  for (const Json& ops :
       {op::set_key("", "a", 3),
        Json{op::set_key("", "a", 2), op::set_key("", "b", 1)},
        Json{op::set_key("", "a", 7), op::set_key("", "a", 8)},
        Json{op::del_key("", "a"), op::set_key("", "a", 1)},
        Json{op::append("l", "z"), op::remove_value("l", "x")},
        Json{op::set_key("", "l", {"x", "y"}), op::set_key("", "b", 3)}})
    EXPECT_TRUE(run(kState, ops).changed) << ops;
}

TEST(PatchLimits, OnlyTheResultCounts) {
  constexpr std::string_view kState = R"({"l":[]})";
  EXPECT_EQ(run(kState, op::append("l", 1), 9).text, R"({"l":[1]})");
  EXPECT_EQ(run(kState,
                {op::append("l", "long"), op::remove_value("l", "long"),
                 op::append("l", 1)},
                9)
                .text,
            R"({"l":[1]})");
  const Outcome over =
      run(kState,
          {op::append("l", 1), op::append("l", 2), op::add_to_set("l", 3)}, 10);
  EXPECT_EQ(over.error["code"], "state_too_large");
  EXPECT_EQ(over.error["size_bytes"], 13);
  EXPECT_EQ(over.error["limit_bytes"], 10);
  EXPECT_EQ(over.error["op"], "append");
  EXPECT_EQ(over.error["index"], 1);
  EXPECT_EQ(over.error["path"], "l");
}

TEST(PatchLimits, BytesOfUtf8AreCounted) {
  EXPECT_EQ(run(R"({"l":[]})", op::append("l", "é"), 12).text,
            "{\"l\":[\"é\"]}");
  EXPECT_EQ(run(R"({"l":[]})", op::append("l", "é"), 11).error["code"],
            "state_too_large");
}

TEST(PatchLimits, AStateOverALoweredCapMayShrink) {
  constexpr std::string_view kState = R"({"a":"0123456789","b":1})";
  EXPECT_EQ(run(kState, op::set_key("", "a", "012345678"), 5).text,
            R"({"a":"012345678","b":1})");
  EXPECT_TRUE(run(kState, op::set_key("", "b", 2), 5).changed);
  EXPECT_EQ(run(kState, op::set_key("", "b", 10), 5).error["code"],
            "state_too_large");
}

TEST(PatchLimits, DepthOfTheResultCounts) {
  const std::string state = "{\"a\":" + testing::nested(127) + "}";
  std::string deepest = "/a";
  for (int i = 0; i < 126; ++i) deepest += "/0";
  EXPECT_TRUE(run(state, op::append(deepest, 1)).changed);
  EXPECT_EQ(reason_of(state, op::append(deepest, Json::array())), "too_deep");
  EXPECT_EQ(reason_of(state, op::append(deepest, Json::object())), "too_deep");

  const Json deep = Json::parse(testing::nested(127));
  EXPECT_TRUE(run("{}", {op::set_key("", "k", deep)}).changed);
  EXPECT_TRUE(run("{}", op::merge(Json{{"k", deep}})).changed);
  constexpr std::string_view kState = R"({"o":{},"l":[]})";
  EXPECT_EQ(reason_of(kState, op::set_key("o", "k", deep)), "too_deep");
  EXPECT_EQ(reason_of(kState, op::append("l", deep)), "too_deep");
  EXPECT_EQ(reason_of(kState, op::merge(Json{{"k", deep}}, "o")), "too_deep");
  EXPECT_EQ(reason_of(kState, op::create(op::append("n", deep))), "too_deep");
  std::string path = "a";
  for (int i = 1; i < 127; ++i) path += ".a";
  EXPECT_TRUE(run("{}", op::create(op::append(path, 1))).changed);
  EXPECT_EQ(reason_of("{}", op::create(op::append(path + ".a", 1))),
            "too_deep");
}

TEST(PatchLists, WideMergesFindEveryKey) {
  Json state = Json::object();
  Json mapping = Json::object();
  for (int i = 0; i < 500; ++i) state["k" + std::to_string(i)] = i;
  Json expected = state;
  for (int i = 250; i < 600; ++i)
    mapping["k" + std::to_string(i)] = expected["k" + std::to_string(i)] = "v";
  EXPECT_EQ(after(state.dump(), op::merge(mapping)), expected.dump());
}

}  // namespace
}  // namespace satchel
