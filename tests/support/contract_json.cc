// Contract: what is stored is what was given, byte for byte where it matters;
// what cannot be given back is refused; caps count canonical bytes.

#include "tests/support/contract.h"

namespace satchel::test {

void contract_json() {}

namespace {
std::string deep(int levels) {
  std::string s;
  for (int i = 1; i < levels; ++i) s += R"({"a":)";
  s += "{}";
  return s + std::string(static_cast<std::size_t>(levels - 1), '}');
}

JsonInput parsed(std::string_view text) { return Document::parse(text); }

/// {"x":"……"} of exactly `bytes` bytes, out of the character `unit`.
std::string state_of(std::size_t bytes, const std::string& unit) {
  const std::size_t room = bytes - std::string(R"({"x":""})").size();
  std::string s = R"({"x":")";
  for (std::size_t i = 0; i < room / unit.size(); ++i) s += unit;
  s += std::string(room % unit.size(), 'y');
  return s + "\"}";
}
}  // namespace

TEST_P(Contract, StatesComeBackByteForByte) {
  const char* kStates[] = {
      R"({"id":725653563933458432,"n":9007199254740993,"m":-9007199254740993})",
      R"({"max":18446744073709551615,"min":-9223372036854775808})",
      R"({"b":1,"a":2,"10":3,"9":4})",
      R"({"t":"a\u0000b","k\u0000x":[1],"k":2})",
      "{\"\xc3\xa9\":1,\"e\xcc\x81\":2}",  // two forms of é
      R"({"":[],"a":{"":{"x":[]}}})",
      R"({"__proto__":{"isAdmin":true},"constructor":1,"toString":[]})",
      R"({"a":-0.0,"v":[1.0,4.5,0.1,5e-324,2.2250738585072014e-308]})",
      R"({"s":"🎉\ud83d\ude00","c":"\u001f\"\\/\b\f\n\r\t"})",
      R"({"e":{},"f":[],"n":null,"t":true,"d":[[[{}]]]})"};
  for (const char* given : kStates) {
    const Document d = Document::parse(given).value();
    const auto s = mint(d, {.return_state = true});
    EXPECT_EQ(s.state->text(), d.text());
    EXPECT_EQ(text(s.handle), d.text());
    // A tree that was read and is saved again stays the same.
    save(s.handle, get(s.handle).state->json(), 1);
    EXPECT_EQ(text(s.handle), d.text());
    // So does what a patch leaves alone.
    patch(s.handle, op::set_key("", "added", 1));
    patch(s.handle, op::del_key("", "added"));
    EXPECT_EQ(text(s.handle), d.text());
    if (keeps()) reopen();
    EXPECT_EQ(text(s.handle), d.text());
  }
}

TEST_P(Contract, CanonicalBytesOfNumbers) {
  const auto s = mint(R"({ "a": -0, "b": -0.0, "c": 1.0, "d": 1E2, "id":
      725653563933458432 })"_j);
  EXPECT_EQ(text(s.handle),
            R"({"a":0,"b":-0.0,"c":1.0,"d":100.0,"id":725653563933458432})");
}

TEST_P(Contract, WhatCannotBeGivenBackIsRefused) {
  const auto s = mint(R"({"x":1})"_j);
  const std::string bad[] = {R"({"x":1e400})",
                             R"({"x":-1e400})",
                             R"({"x":NaN})",
                             R"({"x":Infinity})",
                             R"({"x":18446744073709551616})",
                             R"({"x":-9223372036854775809})",
                             R"({"x":1,"x":1})",
                             R"({"x":{"b":1,"a":2,"b":3}})",
                             R"({"x":"\ud800"})",
                             R"({"\udc00":1})",
                             "{\"x\":\"\xff\"}",
                             "{\"x\":\"\xed\xa0\x80\"}",
                             R"({"x":01})",
                             R"({"x":1,})",
                             R"({"x":'1'})",
                             "{\"x\":\"\n\"}",
                             "{",
                             "",
                             " ",
                             R"({} x)",
                             "\xef\xbb\xbf{}",
                             std::string("{}\0", 3),
                             deep(129),
                             std::string(100'000, '['),
                             R"({"x":.5})",
                             R"({"x":+1})",
                             "nul"};
  for (const std::string& given : bad) {
    expect_error(store().mint("note", parsed(given), {.user = kUser}),
                 ErrorCode::invalid_input, "state");
    expect_error(store().save(s.handle, parsed(given),
                              {.user = kUser, .expect_version = 1}),
                 ErrorCode::invalid_input, "state");
    const std::string ops =
        R"([{"op":"set_key","path":"","key":"y","value":)" + given + "}]";
    expect_error(store().patch(s.handle, parsed(ops), {.user = kUser}),
                 ErrorCode::invalid_input, "ops");
  }
  EXPECT_EQ(text(s.handle), R"({"x":1})");
  EXPECT_EQ(list().size(), 1u);
}

TEST_P(Contract, TreesThatAreNoJsonAreRefused) {
  const auto s = mint(R"({"l":[]})"_j);
  const Json bad[] = {std::numeric_limits<double>::quiet_NaN(),
                      std::numeric_limits<double>::infinity(), "\xff",
                      Json::binary({1, 2})};
  for (const Json& value : bad) {
    expect_error(store().mint("note", Json{{"x", value}}, {.user = kUser}),
                 ErrorCode::invalid_input, "state");
    expect_error(
        store().patch(s.handle, op::append("l", value), {.user = kUser}),
        ErrorCode::invalid_input, "ops");
  }
  EXPECT_EQ(get(s.handle).version, 1u);
}

TEST_P(Contract, RefusedNumbersNameTheirPlace) {
  const auto path_of = [&](const char* text) {
    const auto r = store().mint("note", parsed(text), {.user = kUser});
    return expect_error(r, ErrorCode::invalid_input, "state")
        .details.value("path", "");
  };
  EXPECT_EQ(path_of(R"({"a":[1,{"b/c":1e999}]})"), "/a/1/b~1c");
  EXPECT_EQ(path_of(R"({"a":99999999999999999999})"), "/a");
}

TEST_P(Contract, DepthIsLimitedAlsoByPatches) {
  const auto s = mint(parsed(deep(128)));
  EXPECT_EQ(text(s.handle), deep(128));
  std::string path;
  for (int i = 1; i < 128; ++i) path += "/a";
  const auto r = store().patch(s.handle, op::set_key(path, "a", Json::object()),
                               {.user = kUser});
  ASSERT_FALSE(r.ok());
  EXPECT_TRUE(r.error().code == ErrorCode::invalid_input ||
              r.error().code == ErrorCode::patch_error)
      << r.error().message;
  EXPECT_EQ(get(s.handle).version, 1u);
  EXPECT_EQ(patch(s.handle, op::set_key(path, "a", 1)).version, 2u);
  if (keeps()) reopen();
  EXPECT_EQ(get(s.handle, {.path = path + "/a"}).state->text(), "1");
}

TEST_P(Contract, WhatWrapsAValueInAnOpIsNotDepth) {
  const auto s = mint("{}"_j);
  const Json value = Json::parse(deep(127));
  const Json ops = Json::array({op::set_key("", "a", value)});
  EXPECT_EQ(patch(s.handle, ops).version, 2u);
  EXPECT_EQ(text(s.handle), deep(128));
}

TEST_P(Contract, TheCapCountsUtf8BytesForEveryCall) {
  constexpr std::size_t kCap = 200;
  options.max_state_bytes = kCap;
  open_with_options();
  const auto too_large = [&](const auto& result, std::size_t bytes) {
    Error e = expect_error(result, ErrorCode::state_too_large);
    EXPECT_EQ(e.details.value("size_bytes", 0u), bytes);
    EXPECT_EQ(e.details.value("limit_bytes", 0u), kCap);
  };
  for (const std::string unit : {"x", "é", "🎉"}) {
    mint(parsed(state_of(kCap - 1, unit)));
    const auto s = mint(parsed(state_of(kCap, unit)));
    const JsonInput over = parsed(state_of(kCap + 1, unit));
    too_large(store().mint("note", over, {.user = kUser}), kCap + 1);
    too_large(
        store().save(s.handle, over, {.user = kUser, .expect_version = 1}),
        kCap + 1);
    save(s.handle, parsed(state_of(kCap - 1, unit)), 1);
    save(s.handle, parsed(state_of(kCap, unit)), 2);
    EXPECT_EQ(get(s.handle).version, 3u);
  }
}

TEST_P(Contract, TheCapHoldsForAppends) {
  options.max_state_bytes = 40;
  open_with_options();
  const auto s = mint(R"({"l":[]})"_j);                    // 8 bytes
  patch(s.handle, op::append("l", std::string(29, 'x')));  // + 31
  EXPECT_EQ(text(s.handle).size(), 39u);
  const auto over =
      store().patch(s.handle, op::append("l", 1), {.user = kUser});
  Error e = expect_error(over, ErrorCode::state_too_large);
  EXPECT_EQ(e.details.value("size_bytes", 0), 41);
  EXPECT_EQ(e.details.value("limit_bytes", 0), 40);
  EXPECT_EQ(get(s.handle).version, 2u);
  EXPECT_EQ(get(s.handle).state->size_bytes(), 39u);
  // Within one list only the result counts.
  patch(s.handle, Json::array({op::append("l", 1), op::set_key("", "l", "é")}));
  EXPECT_EQ(text(s.handle), R"({"l":"é"})");
}

TEST_P(Contract, BigStatesTakePatches) {
  Json big{{"l", Json::array()}};
  for (int i = 0; i < 512; ++i) big["l"].push_back(std::string(1021, 'b'));
  const auto s = mint(big);
  EXPECT_GT(get(s.handle).state->size_bytes(), 512u * 1024);
  for (int i = 0; i < 50; ++i) patch(s.handle, op::append("l", i));
  if (keeps()) reopen();
  const Document d = *get(s.handle).state;
  EXPECT_EQ(d.json()["l"].size(), 562u);
  EXPECT_EQ(d.json()["l"].back(), 49);
  EXPECT_EQ(get(s.handle, {.version = 1}).state->json(), big);
}

TEST_P(Contract, NumbersKeepTheirValueThroughPatches) {
  const auto s = mint(R"({"id":725653563933458432,"f":0.1})"_j);
  patch(s.handle, op::set_key("", "z", 9007199254740993));
  patch(s.handle, op::increment("", "id", 1));
  EXPECT_EQ(text(s.handle),
            R"({"id":725653563933458433,"f":0.1,"z":9007199254740993})");
}

}  // namespace satchel::test
