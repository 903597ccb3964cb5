// The seven tools: what they do, refuse and say.

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/serve/server_fixture.h"

namespace satchel::tools::serve {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

using ToolsTest = ServerFixture;

TEST_F(ToolsTest, SaveWithoutHandleCreatesAndWithHandleUpdates) {
  const Json made =
      call("state_save", {{"kind", "note"}, {"state", {{"a", 1}}}});
  EXPECT_EQ(made.value("version", 0), 1);
  EXPECT_EQ(made.value("kind", ""), "note");
  EXPECT_FALSE(made.contains("state"));
  EXPECT_FALSE(made.contains("note"));
  const Json saved = call("state_save", {{"handle", made["handle"]},
                                         {"state", {{"a", 2}}},
                                         {"kind", "note"},
                                         {"expect_version", 1},
                                         {"return_state", true}});
  EXPECT_EQ(saved.value("version", 0), 2);
  EXPECT_EQ(saved["state"], Json({{"a", 2}}));
}

TEST_F(ToolsTest, ACreateNamesALiveHandleOfTheSameKind) {
  const auto first = create();
  const Json second =
      call("state_save", {{"kind", "note"}, {"state", Json::object()}});
  EXPECT_THAT(second.value("note", ""), HasSubstr(first));
  const Json other =
      call("state_save", {{"kind", "other"}, {"state", Json::object()}});
  EXPECT_FALSE(other.contains("note"));
}

TEST_F(ToolsTest, ASaveThatIsNeitherIsRefusedAndWritesNothing) {
  const auto handle = create();
  const Json state = Json::object();
  EXPECT_EQ(
      refusal("state_save",
              {{"kind", "note"}, {"state", state}, {"expect_version", 1}}),
      "invalid_input(expect_version)");
  EXPECT_EQ(refusal("state_save", {{"handle", handle}, {"state", state}}),
            "invalid_input(expect_version)");
  EXPECT_EQ(refusal("state_save", {{"handle", handle},
                                   {"state", state},
                                   {"expect_version", 1},
                                   {"kind", "other"}}),
            "invalid_input(kind)");
  EXPECT_EQ(refusal("state_save", {{"state", state}}), "invalid_input(kind)");
  EXPECT_EQ(refusal("state_save", {{"kind", "note"}}), "invalid_input(state)");
  EXPECT_EQ(refusal("state_save", {{"kind", "note"}, {"state", Json::array()}}),
            "invalid_input(state)");
  EXPECT_EQ(call("state_list", Json::object())["handles"].size(), 1u);
  EXPECT_EQ(call("state_load", {{"handle", handle}}).value("version", 0), 1);
}

TEST_F(ToolsTest, AStaleSaveIsAnAnswerToMergeWith) {
  const auto handle = create();
  const Json ops = Json::array(
      {{{"op", "set_key"}, {"path", ""}, {"key", "k"}, {"value", 7}}});
  call("state_patch", {{"handle", handle}, {"ops", ops}, {"writer", "other"}});
  const Json error = call("state_save", {{"handle", handle},
                                         {"state", Json::object()},
                                         {"expect_version", 1}})["error"];
  EXPECT_EQ(error.value("code", ""), "stale_write");
  EXPECT_EQ(error["current"]["version"], 2);
  EXPECT_EQ(error["current"]["state"], Json({{"n", 1}, {"k", 7}}));
  EXPECT_THAT(error.value("message", ""), HasSubstr("expect_version 2"));
}

TEST_F(ToolsTest, NothingLosesItsExpiryByOmission) {
  const auto handle = create({{"ttl_days", 1}});
  const auto expiry = [&] {
    return call("state_load", {{"handle", handle}})["expires_at"];
  };
  const Json first = expiry();
  ASSERT_FALSE(first.is_null());
  call("state_save", {{"handle", handle},
                      {"state", Json::object()},
                      {"expect_version", 1},
                      {"ttl_days", nullptr},
                      {"persist", nullptr}});
  EXPECT_EQ(expiry(), first);
  call(
      "state_patch",
      {{"handle", handle},
       {"ops",
        Json::array(
            {{{"op", "set_key"}, {"path", ""}, {"key", "k"}, {"value", 1}}})}});
  EXPECT_EQ(expiry(), first);
  EXPECT_EQ(refusal("state_touch", {{"handle", handle}}),
            "invalid_input(ttl_days)");
  EXPECT_EQ(refusal("state_touch", {{"handle", handle}, {"persist", false}}),
            "invalid_input(ttl_days)");
  EXPECT_EQ(expiry(), first);
  call("state_touch", {{"handle", handle}, {"ttl_days", 2.5}});
  EXPECT_NE(expiry(), first);
  call("state_touch", {{"handle", handle}, {"persist", true}});
  EXPECT_TRUE(expiry().is_null());
}

TEST_F(ToolsTest, PersistOfASaveTakesTheExpiryAway) {
  const auto handle = create({{"ttl_days", "1.5"}});
  const Json saved = call("state_save", {{"handle", handle},
                                         {"state", Json::object()},
                                         {"expect_version", "1"},
                                         {"persist", true}});
  EXPECT_TRUE(saved["expires_at"].is_null());
  EXPECT_EQ(refusal("state_save", {{"handle", handle},
                                   {"state", Json::object()},
                                   {"expect_version", 2},
                                   {"persist", true},
                                   {"ttl_days", 1}}),
            "invalid_input(ttl_days)");
}

TEST_F(ToolsTest, LoadReadsPartsAndOldVersions) {
  const auto handle =
      create({{"state", {{"a", {{"b", Json::array({1, 2})}}}, {"n", 1}}}});
  call("state_save",
       {{"handle", handle}, {"state", {{"n", 2}}}, {"expect_version", 1}});
  const Json now = call("state_load", {{"handle", handle}});
  EXPECT_EQ(now["state"], Json({{"n", 2}}));
  EXPECT_EQ(now.value("size_bytes", 0), 7);
  const Json old = call(
      "state_load", {{"handle", handle}, {"version", 1.0}, {"path", "/a/b/1"}});
  EXPECT_EQ(old["state"], 2);
  EXPECT_EQ(refusal("state_load", {{"handle", handle}, {"version", true}}),
            "invalid_input(version)");
  EXPECT_EQ(refusal("state_load", {{"handle", handle}, {"path", "nowhere"}}),
            "invalid_input(path)");
}

TEST_F(ToolsTest, ListsComeInPages) {
  for (int i = 0; i < 3; ++i) create();
  Json page = call("state_list", {{"limit", "2"}});
  EXPECT_EQ(page["handles"].size(), 2u);
  page = call("state_list", {{"limit", 2}, {"cursor", page["cursor"]}});
  EXPECT_EQ(page["handles"].size(), 1u);
  EXPECT_TRUE(page.value("cursor", Json()).is_null());
  for (const Json& limit : Json::array({0, 1001, -1, 1.5, true, "x", 1e30})) {
    EXPECT_EQ(refusal("state_list", {{"limit", limit}}), "invalid_input(limit)")
        << limit;
  }
  EXPECT_EQ(refusal("state_list", {{"cursor", "made up"}}),
            "invalid_input(cursor)");
}

TEST_F(ToolsTest, WhatIsGoneFailsVisibly) {
  const auto handle = create({{"ttl_days", 1}});
  clock_->advance(25h);
  const Json expired = call("state_load", {{"handle", handle}})["error"];
  EXPECT_EQ(expired.value("code", ""), "handle_expired");
  EXPECT_TRUE(expired.contains("expired_at"));
  EXPECT_EQ(call("state_list", Json::object())["handles"].size(), 0u);
  EXPECT_EQ(call("state_list", {{"include_expired", true}})["handles"].size(),
            1u);
  const auto other = create();
  EXPECT_EQ(call("state_delete", {{"handle", other}}).value("handle", ""),
            other);
  EXPECT_EQ(refusal("state_load", {{"handle", other}}), "handle_not_found");
  const auto mine = create();
  caller_.user = "mallory";
  EXPECT_EQ(refusal("state_load", {{"handle", mine}}), "handle_not_found");
  EXPECT_EQ(refusal("state_delete", {{"handle", mine}}), "handle_not_found");
}

TEST_F(ToolsTest, APatchReturnsTheStateUnlessToldNotTo) {
  const auto handle = create();
  const Json ops = Json::array(
      {{{"op", "increment"}, {"path", ""}, {"key", "n"}, {"by", 2}}});
  EXPECT_EQ(call("state_patch", {{"handle", handle}, {"ops", ops}})["state"],
            Json({{"n", 3}}));
  const Json bare =
      call("state_patch",
           {{"handle", handle}, {"ops", ops.dump()}, {"return_state", false}});
  EXPECT_FALSE(bare.contains("state"));
  EXPECT_EQ(bare.value("version", 0), 3);
}

TEST_F(ToolsTest, ChangesAreTheDeltaSinceAVersion) {
  const auto handle = create();
  const Json op = {{"op", "increment"}, {"path", ""}, {"key", "n"}, {"by", 2}};
  call("state_patch", {{"handle", handle}, {"ops", Json::array({op})}});
  const Json changed =
      call("state_changes", {{"handle", handle}, {"since_version", 1}});
  ASSERT_EQ(changed["changes"].size(), 1u);
  EXPECT_EQ(changed["changes"][0]["ops"][0].value("by", 0), 2);
  EXPECT_EQ(refusal("state_changes", {{"handle", handle}}),
            "invalid_input(since_version)");
  EXPECT_EQ(
      refusal("state_changes", {{"handle", handle}, {"since_version", 9}}),
      "invalid_input(since_version)");
}

TEST_F(ToolsTest, ARepeatedRequestIdIsAppliedOnce) {
  const Json save = {
      {"kind", "note"}, {"state", Json::object()}, {"request_id", "r1"}};
  const auto handle = call("state_save", save).value("handle", "");
  EXPECT_EQ(call("state_save", save).value("handle", ""), handle);
  EXPECT_EQ(call("state_list", Json::object())["handles"].size(), 1u);
}

TEST_F(ToolsTest, ArgumentsThatAreNoObjectAreAToolError) {
  for (const Json& arguments : Json::array({1, "x", Json::array(), true})) {
    EXPECT_EQ(refusal("state_list", arguments), "invalid_input(arguments)")
        << arguments;
  }
  EXPECT_EQ(refusal("state_list", {{"user", "bob"}}),
            "invalid_input(arguments)");
}

TEST_F(ToolsTest, TheMaximumLifetimeHoldsForEveryCall) {
  services_.policy.max_ttl = 7 * 24h;
  const Json made =
      call("state_save", {{"kind", "note"}, {"state", Json::object()}});
  const Json week =
      call("state_save",
           {{"kind", "note"}, {"state", Json::object()}, {"ttl_days", 7}});
  EXPECT_EQ(made["expires_at"], week["expires_at"]);
  const Json handle = made["handle"];
  for (Json more : Json::array({{{"ttl_days", 7.01}}, {{"persist", true}}})) {
    Json updated = more;
    more.update({{"kind", "note"}, {"state", Json::object()}});
    EXPECT_EQ(refusal("state_save", more), "invalid_input(ttl_days)");
    Json touched = updated;
    updated.update(
        {{"handle", handle}, {"state", Json::object()}, {"expect_version", 1}});
    EXPECT_EQ(refusal("state_save", updated), "invalid_input(ttl_days)");
    touched["handle"] = handle;
    const Json error = call("state_touch", touched)["error"];
    EXPECT_EQ(error.value("field", ""), "ttl_days");
    EXPECT_THAT(error.value("message", ""), HasSubstr("at most 7"));
  }
  EXPECT_EQ(call("state_load", {{"handle", handle}}).value("version", 0), 1);
  services_.policy = {};
  services_.policy.require_ttl = true;
  EXPECT_EQ(
      refusal("state_save", {{"kind", "note"}, {"state", Json::object()}}),
      "invalid_input(ttl_days)");
  EXPECT_EQ(refusal("state_touch", {{"handle", handle}, {"persist", true}}),
            "invalid_input(ttl_days)");
}

TEST_F(ToolsTest, EveryCallIsAuditedBeforeItsReply) {
  const test::TemporaryFolder folder;
  const auto file = (folder.path() / "audit").string();
  AuditLog audit(file, false);
  services_.audit = &audit;
  const auto last = [&] {
    std::ifstream lines(file);
    std::string line, latest;
    while (std::getline(lines, line)) latest = line;
    Json entry = Json::parse(latest);
    EXPECT_TRUE(entry.contains("time")) << latest;
    EXPECT_EQ(entry.value("user", ""), test::kUser);
    EXPECT_THAT(latest, testing::Not(HasSubstr("secret")));
    std::ostringstream out;
    out << entry.value("tool", "") << ' '
        << entry.value("version_before", Json()) << ' '
        << entry.value("version_after", Json()) << ' '
        << entry.value("outcome", "");
    return out.str();
  };
  const auto handle = create({{"state", {{"a", "secret"}}}});
  EXPECT_EQ(last(), "state_save null 1 ok");
  call("state_load", {{"handle", handle}});
  EXPECT_EQ(last(), "state_load 1 1 ok");
  call("state_patch", {{"handle", handle},
                       {"ops", Json::array({{{"op", "set_key"},
                                             {"path", ""},
                                             {"key", "k"},
                                             {"value", "secret"}}})}});
  EXPECT_EQ(last(), "state_patch 1 2 ok");
  call("state_touch", {{"handle", handle}, {"ttl_days", 1}});
  EXPECT_EQ(last(), "state_touch 2 3 ok");
  call("state_save", {{"handle", handle},
                      {"state", {{"b", "secret"}}},
                      {"expect_version", 1}});
  EXPECT_THAT(last(), HasSubstr("stale_write"));
  call("state_list", {{"limitt", 1}});
  EXPECT_THAT(last(), HasSubstr("invalid_input"));
  ask("resources/read", {{"uri", "state://" + handle}});
  EXPECT_EQ(last(), "resources/read 3 3 ok");
  ask("resources/list");
  EXPECT_EQ(last(), "resources/list null null ok");
  ask("resources/list", {{"cursor", 5}});
  EXPECT_EQ(last(), "resources/list null null invalid_input");
  ask("resources/read", Json::object());
  EXPECT_EQ(last(), "resources/read null null invalid_input");
  ask("tools/call", {{"name", "state_lode"}});
  EXPECT_EQ(last(), "state_lode null null invalid_input");
  call("state_delete", {{"handle", handle}});
  EXPECT_THAT(last(), HasSubstr("state_delete 3"));
}

}  // namespace
}  // namespace satchel::tools::serve
