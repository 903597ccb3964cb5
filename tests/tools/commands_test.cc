// Each command on a good store.

#include <regex>

#include "tests/support/program.h"

namespace satchel::test {
namespace {

class CommandsTest : public ProgramTest {
 protected:
  /// Handles and times replaced, to compare with golden text.
  static std::string masked(std::string text) {
    text = std::regex_replace(text, std::regex("[a-z]+_[a-z2-7]{8}"), "H");
    text = std::regex_replace(
        text, std::regex("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{6}Z"),
        "T");
    return std::regex_replace(
        text, std::regex("20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9:]{8}"), "D");
  }
  std::string golden(const Words& words, int exit_code = 0) {
    const Finished done = satchel(words);
    EXPECT_EQ(done.exit_code, exit_code) << done.err;
    EXPECT_EQ(exit_code == 0 ? done.err : done.out, "");
    return masked(done.out + done.err);
  }
};

constexpr const char* kInfo =
    R"({"ok":true,"handle":"H","kind":"note","version":1,"created_at":"T",)"
    R"("updated_at":"T","expires_at":null,"last_writer":"test")";

TEST_F(CommandsTest, MintPrintsTheHandle) {
  EXPECT_EQ(golden({"mint", "note", "{}"}), "H\n");
  EXPECT_EQ(golden({"mint", "note", "{}", "--return-state"}), "H\n{}\n");
  EXPECT_EQ(golden({"mint", "note", "{}", "--json"}),
            std::string(kInfo) + "}\n");
  EXPECT_EQ(
      golden({"--json", "mint", "note", R"({"b":1.0})", "--return-state"}),
      std::string(kInfo) + R"(,"state":{"b":1.0}})"
                           "\n");
}

TEST_F(CommandsTest, MintWithTtlExpires) {
  Json made = object({"mint", "note", "{}", "--ttl", "1.5h"});
  EXPECT_TRUE(made["expires_at"].is_string());
  EXPECT_EQ(error({"mint", "note", "{}", "--ttl", "0s"}, 2)["field"], "ttl");
  EXPECT_EQ(error({"mint", "note", "{}", "--ttl", "0.9ms"}, 2)["field"], "ttl");
  EXPECT_EQ(error({"mint", "note", "{}", "--ttl", "36501d"}, 2)["field"],
            "ttl");
  EXPECT_EQ(error({"mint", "note", "{}", "--ttl", "99999999999999999999d"},
                  2)["field"],
            "ttl");
  object({"mint", "note", "{}", "--ttl", "36500d"});
}

TEST_F(CommandsTest, GetPrintsThePrettyStateOrTheSnapshot) {
  const std::string handle = mint(R"({"a":{"x":[1,2]},"b":"t"})");
  const Finished done = satchel({"get", handle});
  EXPECT_EQ(Json::parse(done.out).dump(), R"({"a":{"x":[1,2]},"b":"t"})");
  EXPECT_GT(std::count(done.out.begin(), done.out.end(), '\n'), 2);
  EXPECT_EQ(golden({"get", handle, "--json"}),
            std::string(kInfo) + R"(,"state":{"a":{"x":[1,2]},"b":"t"}})"
                                 "\n");
  EXPECT_EQ(Json::parse(satchel({"get", handle, "--path", "a.x"}).out).dump(),
            "[1,2]");
  EXPECT_EQ(golden({"get", handle, "--path", "/a/x/1", "--json"}),
            std::string(kInfo) + R"(,"state":2,"path":"/a/x/1"})"
                                 "\n");
  EXPECT_EQ(error({"get", handle, "--path", "nope"}, 2)["field"], "path");
  EXPECT_EQ(error({"get", handle, "--version", "2"}, 2)["field"], "version");
}

TEST_F(CommandsTest, OptionsStandBeforeOrAfterTheCommand) {
  const std::string handle = mint("{}", {"--user", "bob"});
  for (const Words& words :
       {Words{"--json", "--user", "bob", "get", handle},
        Words{"get", "--user=bob", handle, "--json"},
        Words{"get", handle, "--json", "--store", store(), "--user", "bob"},
        Words{"--store=rocksdb://" + store(), "get", handle, "--json",
              "--user=bob"}}) {
    const Finished done = satchel(words);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(Json::parse(done.out)["handle"], handle);
  }
}

TEST_F(CommandsTest, ValuesThatBeginWithADashAndADigit) {
  EXPECT_EQ(error({"get", "-1"}, 1)["code"], "handle_not_found");
  EXPECT_EQ(error({"revoke", "-1x"}, 1)["code"], "handle_not_found");
  EXPECT_EQ(error({"mint", "note", "-1"}, 2)["field"], "state");
}

TEST_F(CommandsTest, SaveReplacesTheExpectedVersion) {
  const std::string h = mint();
  EXPECT_EQ(golden({"save", h, R"({"a":2})", "--expect-version", "1"}),
            "saved H: version 2, expires never\n");
  Json stale = error({"save", h, R"({"a":3})", "--expect-version", "1"}, 3);
  EXPECT_EQ(stale["code"], "stale_write");
  EXPECT_EQ(stale["expected_version"], 1);
  EXPECT_EQ(stale["current"]["version"], 2);
  EXPECT_EQ(stale["current"]["state"].dump(), R"({"a":2})");
  const std::string told =
      golden({"save", h, R"({"a":3})", "--expect-version", "1"}, 3);
  EXPECT_NE(told.find("H is at version 2"), std::string::npos) << told;
  EXPECT_NE(told.find("--expect-version 2"), std::string::npos) << told;
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
}

TEST_F(CommandsTest, SaveSetsOrKeepsTheExpiry) {
  const std::string h = mint("{}", {"--ttl", "1d"});
  Json before = object({"get", h});
  Json kept = object({"save", h, "{}", "--expect-version", "1"});
  EXPECT_EQ(kept["expires_at"], before["expires_at"]);
  Json longer =
      object({"save", h, "{}", "--expect-version", "2", "--ttl", "2d"});
  EXPECT_GT(longer["expires_at"], before["expires_at"]);
  Json never = object({"save", h, "{}", "--expect-version", "3", "--persist"});
  EXPECT_TRUE(never["expires_at"].is_null());
}

TEST_F(CommandsTest, PatchTakesOneOpOrAnArray) {
  const std::string h = mint(R"({"l":[]})");
  EXPECT_EQ(golden({"patch", h, R"({"op":"append","path":"l","value":1})"}),
            "patched H: version 2, expires never\n");
  Json two = object(
      {"patch", h,
       R"([{"op":"append","path":"l","value":2},{"op":"set_key","path":"",)"
       R"("key":"k","value":null}])",
       "--return-state"});
  EXPECT_EQ(two["state"].dump(), R"({"l":[1,2],"k":null})");
  Json bad = error({"patch", h,
                    R"([{"op":"append","path":"x.y",)"
                    R"("value":1}])"},
                   2);
  EXPECT_EQ(bad["code"], "patch_error");
  EXPECT_EQ(bad["index"], 0);
  EXPECT_EQ(error({"patch", h, "[1"}, 2)["field"], "ops");
  EXPECT_EQ(error({"patch", h, "7"}, 2)["field"], "ops");
}

TEST_F(CommandsTest, TouchRenewsOrPersists) {
  const std::string h = mint();
  EXPECT_EQ(golden({"touch", h, "--ttl", "7d"}),
            "renewed H: version 2, expires D UTC\n");
  EXPECT_EQ(golden({"touch", h, "--persist"}),
            "renewed H: version 3, expires never\n");
}

TEST_F(CommandsTest, ListShowsATableNewestFirst) {
  EXPECT_NE(golden({"list"}).find("no handles"), std::string::npos);
  mint();
  object({"mint", "other", "{}"});
  const Finished done = satchel({"list"});
  EXPECT_NE(done.out.find("HANDLE"), std::string::npos);
  EXPECT_LT(done.out.find("other"), done.out.find("note")) << done.out;
  EXPECT_NE(done.out.find("never"), std::string::npos);
  EXPECT_EQ(
      golden({"list", "--kind", "note", "--json"}),
      R"({"ok":true,"handles":[)" + std::string(kInfo).erase(1, 10) + "}]}\n");
}

TEST_F(CommandsTest, ListPagesWithALimitOnly) {
  for (int i = 0; i < 5; ++i) mint();
  Json all = object({"list"});
  EXPECT_EQ(all["handles"].size(), 5u);
  EXPECT_FALSE(all.contains("cursor"));
  Json first = object({"list", "--limit", "2"});
  EXPECT_EQ(first["handles"].size(), 2u);
  const std::string cursor = first["cursor"];
  Json rest = object({"list", "--cursor", cursor});
  EXPECT_EQ(rest["handles"].size(), 3u);
  EXPECT_FALSE(rest.contains("cursor"));
  const Finished told = satchel({"list", "--limit", "2"});
  EXPECT_NE(told.out.find("--cursor " + cursor), std::string::npos);
  EXPECT_EQ(error({"list", "--cursor", cursor + "x"}, 2)["field"], "cursor");
  EXPECT_EQ(error({"--user", "eve", "list", "--cursor", cursor}, 2)["field"],
            "cursor");
}

TEST_F(CommandsTest, RevokeReportsEachHandle) {
  const std::string a = mint(), b = mint();
  EXPECT_EQ(golden({"revoke", a}), "revoked H\n");
  const Finished part = satchel({"revoke", a, b, "--json"});
  EXPECT_EQ(part.exit_code, 8);
  const auto line = part.out.find('\n');
  EXPECT_EQ(Json::parse(part.out.substr(0, line))["error"]["code"],
            "handle_not_found");
  EXPECT_EQ(part.out.substr(line + 1),
            R"({"ok":true,"handle":")" + b + "\"}\n");
  EXPECT_EQ(satchel({"revoke", a, b}).exit_code, 1);
  EXPECT_EQ(satchel({"get", a}).exit_code, 1);
}

TEST_F(CommandsTest, SweepCounts) {
  mint();
  EXPECT_EQ(golden({"sweep"}), "removed 0 expired handles\n");
  EXPECT_EQ(golden({"sweep", "--accept-clock", "--json"}),
            R"({"ok":true,"removed":0})"
            "\n");
}

TEST_F(CommandsTest, ExpiredIsToldToItsOwnerOnly) {
  const std::string h = mint("{}", {"--ttl", "1ms"});
  Json e = error({"get", h}, 1);
  EXPECT_EQ(e["code"], "handle_expired");
  EXPECT_TRUE(e["expired_at"].is_string());
  EXPECT_GT(e["ttl_days"].get<double>(), 0);
  EXPECT_EQ(error({"get", h, "--user", "eve"}, 1)["code"], "handle_not_found");
  EXPECT_EQ(object({"list"})["handles"].size(), 0u);
  EXPECT_EQ(object({"list", "--include-expired"})["handles"].size(), 1u);
  EXPECT_EQ(object({"sweep"})["removed"], 1);
  EXPECT_EQ(object({"list", "--include-expired"})["handles"].size(), 0u);
  EXPECT_EQ(error({"revoke", h}, 1)["code"], "handle_expired");
}

TEST_F(CommandsTest, HistoryChangesAndRevertTellTheVersions) {
  const std::string h = mint(R"({"l":[]})");
  object({"patch", h, R"({"op":"append","path":"l","value":1})"});
  object({"touch", h, "--persist"});
  EXPECT_EQ(golden({"history", h}),
            "VERSION  WHAT   WHEN (UTC)           WRITER\n"
            "3        touch  D  test\n"
            "2        patch  D  test\n"
            "1        mint   D  test\n");
  EXPECT_EQ(golden({"changes", h, "--since", "1"}),
            "VERSION  WHAT   WHEN (UTC)           WRITER\n"
            "2        patch  D  test\n"
            R"(         {"op":"append","path":"l","value":1})"
            "\n3        touch  D  test\n");
  EXPECT_EQ(golden({"changes", h, "--since", "1", "--json"}),
            R"({"ok":true,"handle":"H","since":1,"version":3,"changes":[)"
            R"({"version":2,"at":"T","writer":"test","what":"patch","ops":[)"
            R"({"op":"append","path":"l","value":1}]},{"version":3,"at":"T",)"
            R"("writer":"test","what":"touch","ops":[]}]})"
            "\n");
  EXPECT_EQ(golden({"changes", h, "--since", "3"}),
            "nothing changed since version 3\n");
  EXPECT_EQ(object({"changes", h, "--since", "0"})["replaced"].dump(),
            R"({"l":[1]})");
  EXPECT_EQ(error({"changes", h, "--since", "4"}, 2)["field"], "since");
  EXPECT_EQ(golden({"revert", h, "--to", "1"}),
            "reverted H: version 4, expires never\n");
  EXPECT_EQ(object({"get", h})["state"].dump(), R"({"l":[]})");
  EXPECT_EQ(object({"get", h, "--version", "2"})["state"].dump(),
            R"({"l":[1]})");
  EXPECT_EQ(error({"revert", h, "--to", "9"}, 2)["field"], "to_version");
  EXPECT_EQ(
      error({"revert", h, "--to", "1", "--expect-version", "1"}, 3)["code"],
      "stale_write");
}

TEST_F(CommandsTest, RetryWithARequestIdAppliesOnce) {
  const Words words = {"mint", "note", "{}", "--request-id", "r 1"};
  EXPECT_EQ(object(words)["handle"], object(words)["handle"]);
  EXPECT_EQ(
      error({"mint", "note", R"({"x":1})", "--request-id", "r 1"}, 3)["code"],
      "request_conflict");
  const std::string h = mint(R"({"n":{"c":0}})");
  const Words add = {"patch", h,
                     R"({"op":"increment","path":"n","key":"c","by":1})",
                     "--request-id", "r2"};
  object(add);
  EXPECT_EQ(object(add)["version"], 2);
  EXPECT_EQ(object({"get", h, "--path", "n.c"})["state"], 1);
}

TEST_F(CommandsTest, WriterDefaultsToTheVariableThenTheHost) {
  env_["SATCHEL_WRITER"] = "desk";
  EXPECT_EQ(object({"mint", "note", "{}"})["last_writer"], "desk");
  EXPECT_EQ(object({"mint", "note", "{}", "--writer", "w"})["last_writer"],
            "w");
  env_["SATCHEL_WRITER"] = "";
  EXPECT_NE(object({"mint", "note", "{}"})["last_writer"], "");
}

TEST_F(CommandsTest, UserDefaultsToTheVariableThenLocal) {
  const std::string h = mint();
  EXPECT_EQ(object({"--user", "local", "get", h})["handle"], h);
  env_["SATCHEL_USER"] = "";
  EXPECT_EQ(object({"get", h})["handle"], h);
  env_["SATCHEL_USER"] = "bob";
  EXPECT_EQ(error({"get", h}, 1)["code"], "handle_not_found");
}

TEST_F(CommandsTest, DemoTellsItsStory) {
  const Finished done = satchel({"demo"});
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(done.out.find('\x1b'), std::string::npos);
  for (const char* part : {"mint research", "stale_write", "--expect-version 3",
                           "touch", "changes", "revoke", "All went as told"}) {
    EXPECT_NE(done.out.find(part), std::string::npos) << part;
  }
  EXPECT_FALSE(std::filesystem::exists(store()));
}

TEST_F(CommandsTest, DemoKeepsItsStoreOnRequest) {
  EXPECT_TRUE(object({"demo", "--keep", path("kept")})["ok"]);
  EXPECT_TRUE(std::filesystem::exists(path("kept/SATCHEL")));
  EXPECT_EQ(error({"demo", "--keep", path("kept")}, 2)["field"], "arguments");
}

}  // namespace
}  // namespace satchel::test
