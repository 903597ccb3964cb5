// Paths into a state: dotted, JSON Pointer, and what get with a path answers.

#include "api/path.h"

#include "json_support.h"

namespace satchel {
namespace {

using Segments = std::vector<std::string>;

std::string reason_of(std::string_view path) {
  return std::string(parse_path(path).reason);
}

/// The text at `path`, or the reason of the refusal.
std::string at(std::string_view state, std::string_view path) {
  const auto found = subtree(Document::parse(state).value(), path);
  if (found) return found->text();
  EXPECT_EQ(found.error().code, ErrorCode::invalid_input);
  EXPECT_EQ(found.error().details["field"], "path");
  return found.error().details["reason"].get<std::string>();
}

TEST(Path, DottedPathsSplitAtDots) {
  EXPECT_EQ(parse_path("").path.segments, Segments{});
  EXPECT_EQ(parse_path("a").path.segments, Segments{"a"});
  EXPECT_EQ(parse_path("profile.tags").path.segments,
            (Segments{"profile", "tags"}));
  EXPECT_EQ(parse_path("a/b.~1").path.segments, (Segments{"a/b", "~1"}));
  EXPECT_FALSE(parse_path("a.b").path.pointer);
}

TEST(Path, EmptyDottedSegmentsAreRefused) {
  for (const char* path : {".", ".x", "a.", "a..x", "a...b"})
    EXPECT_EQ(reason_of(path), "empty_segment") << path;
}

TEST(Path, PointersUnescape) {
  EXPECT_EQ(parse_path("/a.b/~0~1/").path.segments,
            (Segments{"a.b", "~/", ""}));
  EXPECT_EQ(parse_path("/").path.segments, Segments{""});
  EXPECT_EQ(parse_path("//x").path.segments, (Segments{"", "x"}));
  EXPECT_EQ(parse_path("/~01").path.segments, Segments{"~1"});
  for (const char* path : {"/~", "/a~2", "/a/~x/b", "/~~"})
    EXPECT_EQ(reason_of(path), "bad_escape") << path;
}

TEST(Path, LongPathsStopEarly) {
  std::string path = "a";
  for (int i = 1; i < 128; ++i) path += ".a";
  EXPECT_EQ(reason_of(path), "");
  EXPECT_EQ(reason_of(path + ".a"), "too_deep");
  EXPECT_EQ(reason_of(std::string(1 << 20, '/')), "too_deep");
}

TEST(Path, IndexesAreStrict) {
  EXPECT_EQ(array_index("0"), 0u);
  EXPECT_EQ(array_index("17"), 17u);
  EXPECT_EQ(array_index("99999999999999999999999"), kNoMember);
  for (const char* text : {"", "-", "00", "01", "+1", "-1", "1a", " 1", "1.0"})
    EXPECT_EQ(array_index(text), std::nullopt) << text;
}

TEST(Path, SegmentsAreEscaped) {
  std::string pointer;
  append_segment("a~b/c", &pointer);
  append_segment("", &pointer);
  EXPECT_EQ(pointer, "/a~0b~1c/");
}

TEST(Subtree, FindsValuesBothWays) {
  constexpr std::string_view kState =
      R"({"a":{"b":[10,{"c":1.0}]},"x.y":2,"":{"":3},"/s":4,"k\u0000x":5})";
  EXPECT_EQ(at(kState, ""), kState);
  EXPECT_EQ(at(kState, "a.b"), R"([10,{"c":1.0}])");
  EXPECT_EQ(at(kState, "/a/b/1/c"), "1.0");
  EXPECT_EQ(at(kState, "/x.y"), "2");
  EXPECT_EQ(at(kState, "/"), R"({"":3})");
  EXPECT_EQ(at(kState, "//"), "3");
  EXPECT_EQ(at(kState, "/~1s"), "4");
  EXPECT_EQ(at(kState, std::string_view("k\0x", 3)), "5");
}

TEST(Subtree, SaysWhyNothingIsThere) {
  constexpr std::string_view kState = R"({"a":{"b":[10]},"s":"text"})";
  EXPECT_EQ(at(kState, "c"), "not_found");
  EXPECT_EQ(at(kState, "k"), "not_found");
  EXPECT_EQ(at(kState, "a.b.0"), "expected_object");
  EXPECT_EQ(at(kState, "s.x"), "expected_object");
  EXPECT_EQ(at(kState, "/a/b/1"), "index_out_of_range");
  EXPECT_EQ(at(kState, "/a/b/-"), "bad_index");
  EXPECT_EQ(at(kState, "/a/b/00"), "bad_index");
  EXPECT_EQ(at(kState, "a..b"), "empty_segment");
  EXPECT_EQ(at(kState, "\xFF"), "not_found");
}

TEST(Resolve, TellsHowFarItCame) {
  Json root = Json::parse(R"({"a":{"b":[{"c":1}]}})");
  const Resolved whole = resolve(root, parse_path("/a/b/0/c").path);
  EXPECT_EQ(whole.reason, "");
  EXPECT_EQ(whole.location, (Location{0, 0, 0, 0}));
  EXPECT_EQ(*whole.node, 1);
  const Resolved part = resolve(root, parse_path("a.x.y").path);
  EXPECT_EQ(part.reason, "not_found");
  EXPECT_EQ(part.matched, 1u);
  EXPECT_EQ(part.node, &root["a"]);
}

}  // namespace
}  // namespace satchel
