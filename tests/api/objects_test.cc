#include "satchel/objects.h"

#include <gtest/gtest.h>

#include <limits>

namespace satchel {
namespace {

Time at(std::int64_t microseconds) {
  return Time(std::chrono::microseconds(microseconds));
}

HandleInfo info() {
  HandleInfo i;
  i.handle = "research_k2v7m4qz";
  i.kind = "research";
  i.version = 3;
  i.created_at = at(0);
  i.updated_at = at(1);
  i.last_writer = "lap\"top\n";
  return i;
}

Snapshot snapshot() {
  Snapshot s;
  static_cast<HandleInfo&>(s) = info();
  return s;
}

Document doc(const char* text) { return Document::parse(text).value(); }

constexpr const char* kInfo =
    R"("handle":"research_k2v7m4qz","kind":"research","version":3,)"
    R"("created_at":"1970-01-01T00:00:00.000000Z",)"
    R"("updated_at":"1970-01-01T00:00:00.000001Z","expires_at":null,)"
    R"("last_writer":"lap\"top\n")";

TEST(ObjectsTest, TimeIsRfc3339WithMicroseconds) {
  EXPECT_EQ(to_rfc3339(at(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_rfc3339(at(951782400000001)), "2000-02-29T00:00:00.000001Z");
  EXPECT_EQ(to_rfc3339(at(1785231000123456)), "2026-07-28T09:30:00.123456Z");
}

TEST(ObjectsTest, TimeBefore1970CountsDownwards) {
  EXPECT_EQ(to_rfc3339(at(-1)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_rfc3339(at(-62135596800000000)), "0001-01-01T00:00:00.000000Z");
}

TEST(ObjectsTest, TimeBeyondFourDigitYearsIsClamped) {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(to_rfc3339(at(kMin)), "0000-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_rfc3339(at(kMax)), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_rfc3339(at(253402300799999999)), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_rfc3339(at(253402300800000000)), "9999-12-31T23:59:59.999999Z");
}

TEST(ObjectsTest, SnapshotWithoutStateLeavesItOut) {
  EXPECT_EQ(to_object(snapshot()), std::string("{\"ok\":true,") + kInfo + "}");
}

TEST(ObjectsTest, SnapshotCopiesStateTextAndPath) {
  Snapshot s = snapshot();
  s.state = doc(R"({"b":1.0,"a":[-0.0]})");
  s.path = "profile";
  s.expires_at = at(2000000);
  const std::string object = to_object(s);
  EXPECT_NE(object.find(R"("expires_at":"1970-01-01T00:00:02.000000Z")"),
            std::string::npos);
  EXPECT_TRUE(
      object.ends_with(R"(,"state":{"b":1.0,"a":[-0.0]},"path":"profile"})"))
      << object;
}

TEST(ObjectsTest, ListNamesItsCursorOnlyWhenThereIsMore) {
  ListPage page;
  EXPECT_EQ(to_object(page), R"({"ok":true,"handles":[]})");
  page.handles = {info(), info()};
  page.cursor = "c1";
  EXPECT_EQ(to_object(page), std::string(R"({"ok":true,"handles":[{)") + kInfo +
                                 "},{" + kInfo + R"(}],"cursor":"c1"})");
}

TEST(ObjectsTest, HistoryListsVersions) {
  History history{"h", 2, {{3, at(1), "w", Change::touch}}};
  EXPECT_EQ(to_object(history),
            R"({"ok":true,"handle":"h","oldest":2,"versions":[{"version":3,)"
            R"("at":"1970-01-01T00:00:00.000001Z","writer":"w",)"
            R"("what":"touch"}]})");
}

TEST(ObjectsTest, ChangesShowExactlyOneOutcome) {
  Changes changes;
  changes.handle = "h";
  changes.since = 1;
  changes.version = 2;
  changes.oldest = 7;
  changes.state = doc(R"({"a":1})");
  Changes::Entry entry;
  entry.version = 2;
  entry.what = Change::patch;
  entry.ops = doc(R"([{"op":"merge","mapping":{}}])");
  changes.entries = {entry};
  const std::string head = R"({"ok":true,"handle":"h","since":1,"version":2,)";
  EXPECT_EQ(to_object(changes),
            head + R"("changes":[{"version":2,)"
                   R"("at":"1970-01-01T00:00:00.000000Z","writer":"",)"
                   R"("what":"patch","ops":[{"op":"merge","mapping":{}}]}]})");
  changes.kind = Changes::Kind::replaced;
  EXPECT_EQ(to_object(changes), head + R"("replaced":{"a":1}})");
  changes.kind = Changes::Kind::too_old;
  EXPECT_EQ(to_object(changes),
            head + R"("too_old":true,"oldest":7,"state":{"a":1}})");
}

TEST(ObjectsTest, SmallObjects) {
  EXPECT_EQ(revoked_object("a\"b"), R"({"ok":true,"handle":"a\"b"})");
  EXPECT_EQ(swept_object(12), R"({"ok":true,"removed":12})");
}

TEST(ObjectsTest, TreeHasTheSameMembersWithoutOk) {
  Snapshot s = snapshot();
  s.state = doc(R"({"a":1})");
  Json expected = Json::parse(to_object(s));
  expected.erase("ok");
  EXPECT_EQ(to_json(s).dump(), expected.dump());
}

TEST(ObjectsTest, KeyValueResults) {
  const Time time{};
  const auto value =
      Document::parse(R"({"a":[1.0,725653563933458432]})").value();
  const KvEntry entry{value, time};
  EXPECT_EQ(to_object("k", entry),
            R"({"ok":true,"key":"k","value":{"a":[1.0,725653563933458432]},)"
            R"("expires_at":"1970-01-01T00:00:00.000000Z"})");
  EXPECT_EQ(kv_set_object("k", time),
            R"({"ok":true,"key":"k",)"
            R"("expires_at":"1970-01-01T00:00:00.000000Z"})");
  EXPECT_EQ(kv_has_object(true), R"({"ok":true,"exists":true})");
  EXPECT_EQ(kv_removed_object(false), R"({"ok":true,"removed":false})");
  EXPECT_EQ(kv_removed_object(std::uint64_t{3}), R"({"ok":true,"removed":3})");
  EXPECT_EQ(kv_counter_object("c", -1), R"({"ok":true,"key":"c","value":-1})");
  EXPECT_EQ(to_object(KvPage{{{"a", time}, {"b", time}}, "next"}),
            R"({"ok":true,"keys":["a","b"],"cursor":"next"})");
  EXPECT_EQ(to_object(std::map<std::string, KvEntry>{{"__proto__", entry}}),
            R"({"ok":true,"values":{"__proto__":)"
            R"({"a":[1.0,725653563933458432]}}})");
  EXPECT_EQ(to_object(KvUsage{"u", "a", 1, 2, 3}),
            R"({"ok":true,"user":"u","app":"a","used_bytes":1,)"
            R"("limit_bytes":2,"key_count":3})");
}

}  // namespace
}  // namespace satchel
