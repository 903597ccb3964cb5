// Contract: the ops of a patch, their paths, and lists as all or nothing.

#include <limits>

#include "tests/support/contract.h"

namespace satchel::test {

void contract_patch() {}

namespace {
struct OpCase {
  const char* before;
  Json op;
  const char* after;
};
}  // namespace

TEST_P(Contract, EveryOpDoesWhatItSays) {
  const OpCase kCases[] = {
      {R"({"l":[1]})", op::append("l", Json{{"a", nullptr}}),
       R"({"l":[1,{"a":null}]})"},
      {R"({"l":["x"]})", op::append("l", "x"), R"({"l":["x","x"]})"},
      {R"({"a":1,"b":2})", op::set_key("", "a", "n"), R"({"a":"n","b":2})"},
      {R"({"a":{}})", op::set_key("a", "b", 1), R"({"a":{"b":1}})"},
      {R"({"a":1,"b":2})", op::del_key("", "a"), R"({"b":2})"},
      {R"({"a":1,"o":{"x":1}})",
       op::merge(Json{{"o", Json{{"y", 2}}}, {"n", nullptr}}),
       R"({"a":1,"o":{"y":2},"n":null})"},
      {R"({"o":{"x":1}})", op::merge(Json{{"y", 2}}, "o"),
       R"({"o":{"x":1,"y":2}})"},
      {R"({"n":41})", op::increment("", "n", 1), R"({"n":42})"},
      {R"({"n":1})", op::increment("", "n", 0.5), R"({"n":1.5})"},
      {R"({"n":-1})", op::increment("", "n", -2), R"({"n":-3})"},
      {R"({"s":[1]})", op::add_to_set("s", 1.0), R"({"s":[1,1.0]})"},
      {R"({"s":[{"a":1,"b":2}]})",
       op::add_to_set("s", Json{{"b", 2}, {"a", 1}}),
       R"({"s":[{"a":1,"b":2},{"b":2,"a":1}]})"},
      {R"({"s":[1,2,1,"1",1.0]})", op::remove_value("s", 1),
       R"({"s":[2,"1",1.0]})"},
      {"{}", op::create(op::append("a.b", 1)), R"({"a":{"b":[1]}})"},
      {"{}", op::create(op::add_to_set("/x~1y", 1)), R"({"x/y":[1]})"},
      {"{}", op::create(op::set_key("a.b", "c", 1)), R"({"a":{"b":{"c":1}}})"},
      {"{}", op::create(op::increment("", "n", 3)), R"({"n":3})"},
      {"{}", op::create(op::merge(Json{{"k", 1}}, "o")), R"({"o":{"k":1}})"},
      {R"({"l":[[1],[2]]})", op::append("/l/1", 3), R"({"l":[[1],[2,3]]})"},
      {R"({"l":[{}]})", op::set_key("/l/0", "k", 1), R"({"l":[{"k":1}]})"}};
  for (const OpCase& c : kCases) {
    const auto s = mint(Document::parse(c.before));
    patch(s.handle, c.op);
    EXPECT_EQ(text(s.handle), c.after) << c.op;
  }
}

TEST_P(Contract, KeysOfOpsAreLiteral) {
  const auto s = mint(R"({"x":{}})"_j);
  patch(s.handle, op::set_key("", "github.com/a.b", 1));
  patch(s.handle, op::set_key("x", "a.b", 2));
  patch(s.handle, op::merge(Json{{"c.d", 3}}));
  const auto p = patch(s.handle, op::del_key("", "x.a.b"));
  EXPECT_EQ(p.version, 4u);
  EXPECT_EQ(text(s.handle), R"({"x":{"a.b":2},"github.com/a.b":1,"c.d":3})");
}

TEST_P(Contract, APathIsExactlyOneNode) {
  const auto s =
      mint(R"({"a.b":[1],"a":{"b":[2]},"":[],"/":[],"k\u0000x":[]})"_j);
  patch(s.handle, op::append("a.b", 9));
  patch(s.handle, op::append("/a.b", 8));
  patch(s.handle, op::append("/", 7));
  patch(s.handle, op::append("/~1", 6));
  patch(s.handle, op::append(std::string_view("k\0x", 3), 5));
  EXPECT_EQ(text(s.handle),
            R"({"a.b":[1,8],"a":{"b":[2,9]},"":[7],"/":[6],"k\u0000x":[5]})");
}

TEST_P(Contract, OpsThatCannotBeAppliedNameTheirIndex) {
  const auto s = mint(R"({"":[],"a":{"":{"x":[]}},"l":[1],"n":"x","i":
      18446744073709551615,"f":1.7976931348623157e308})"_j);
  const std::string before = text(s.handle);
  const Json bad[] = {
      op::append("", 1),
      op::append(".", 1),
      op::append(".x", 1),
      op::append("a.", 1),
      op::append("a..x", 1),
      op::append("nope", 1),
      op::append("a", 1),
      op::append("l.0", 1),
      op::append("/l/0", 1),
      op::append("/l/1", 1),
      op::append("/l/-", 1),
      op::append("/~2", 1),
      op::set_key("l", "k", 1),
      op::set_key("nope", "k", 1),
      op::del_key("nope", "k"),
      op::merge(Json{{"k", 1}}, "n"),
      op::increment("", "n", 1),
      op::increment("", "nope", 1),
      op::increment("", "i", 1),
      op::increment("", "f", 1.7e308),
      op::increment("", "l", 1),
      op::increment("", "i", "1"),
      op::add_to_set("n", 1),
      op::remove_value("n", 1),
      op::create(op::append("n.x", 1)),
      op::create(op::append("n", 1)),
      op::merge(3),
      Json{{"op", "nope"}},
      Json{{"path", "l"}},
      Json::object(),
      Json{{"op", "append"}, {"path", "l"}},
      Json{{"op", "append"}, {"path", "l"}, {"value", 1}, {"extra", 1}},
      Json{{"op", "append"}, {"path", 3}, {"value", 1}},
      Json{{"op", "set_key"}, {"path", ""}, {"key", 7}, {"value", 1}},
      Json{{"op", "increment"}, {"path", ""}, {"key", "i"}},
      Json{{"op", "append"}, {"path", "l"}, {"value", 1}, {"create", "yes"}},
      Json{{"op", 1}}};
  for (const Json& op : bad) {
    const Json list = Json::array({op::append("l", 2), op});
    const auto r = store().patch(s.handle, list, {.user = kUser});
    Error e = expect_error(r, ErrorCode::patch_error);
    EXPECT_EQ(e.details.value("index", -1), 1) << op;
    EXPECT_FALSE(e.details.value("reason", "").empty()) << op;
    const auto alone = store().patch(s.handle, op, {.user = kUser});
    EXPECT_EQ(
        expect_error(alone, ErrorCode::patch_error).details.value("index", -1),
        0)
        << op;
  }
  EXPECT_EQ(text(s.handle), before);
  EXPECT_EQ(get(s.handle).version, 1u);
}

TEST_P(Contract, PatchErrorsCarryTheOpAndItsPath) {
  const auto s = mint(R"({"a":{}})"_j);
  const auto r = store().patch(s.handle, op::append("a", 1), {.user = kUser});
  Error e = expect_error(r, ErrorCode::patch_error);
  EXPECT_EQ(e.details["op"], "append");
  EXPECT_EQ(e.details["path"], "a");
  EXPECT_EQ(e.details["index"], 0);
}

TEST_P(Contract, AListIsAllOrNothing) {
  const auto s = mint(R"({"x":0,"a":{}})"_j);
  expect_error(
      store().patch(s.handle,
                    Json::array({op::set_key("", "x", 1), op::append("a", 1)}),
                    {.user = kUser}),
      ErrorCode::patch_error);
  EXPECT_EQ(text(s.handle), R"({"x":0,"a":{}})");
  EXPECT_EQ(get(s.handle).version, 1u);
  // The store goes on from the old state, not from a half-applied one.
  patch(s.handle, op::set_key("a", "k", 1));
  EXPECT_EQ(text(s.handle), R"({"x":0,"a":{"k":1}})");
}

TEST_P(Contract, AnOverlongResultLeavesTheStateAsItWas) {
  options.max_state_bytes = 5000;
  open_with_options();
  const auto s = mint(R"({"a":[]})"_j);
  Json many = Json::array();
  for (int i = 0; i < 999; ++i) many.push_back(op::append("a", 1));
  many.push_back(op::append("a", std::string(5000, 'x')));
  expect_error(store().patch(s.handle, many, {.user = kUser}),
               ErrorCode::state_too_large);
  EXPECT_EQ(text(s.handle), R"({"a":[]})");
  EXPECT_EQ(patch(s.handle, op::append("a", 2)).version, 2u);
  EXPECT_EQ(text(s.handle), R"({"a":[2]})");
}

TEST_P(Contract, LaterOpsSeeEarlierOnes) {
  const auto s = mint("{}"_j);
  patch(s.handle,
        Json::array({op::set_key("", "l", Json::array()), op::append("l", 1),
                     op::set_key("", "n", 1), op::increment("", "n", 4)}));
  EXPECT_EQ(text(s.handle), R"({"l":[1],"n":5})");
}

TEST_P(Contract, ADocumentThatACallerHoldsNeverChanges) {
  const auto s = mint(R"({"l":[]})"_j);
  const Document before = *get(s.handle).state;
  const Json& tree = before.json();
  for (int i = 0; i < 10; ++i) patch(s.handle, op::append("l", i));
  EXPECT_EQ(before.text(), R"({"l":[]})");
  EXPECT_TRUE(tree["l"].empty());
  EXPECT_EQ(get(s.handle).state->json()["l"].size(), 10u);
}

}  // namespace satchel::test
