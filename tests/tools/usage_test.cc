// What the program says to a command line that it cannot use.

#include <sstream>

#include "tests/support/program.h"

namespace satchel::test {
namespace {

class UsageTest : public ProgramTest {
 protected:
  /// Refused with exit 2 and this field, in both forms, before any store is
  /// made.
  void refused(const Words& words, const std::string& field,
               const std::string& says = "") {
    SCOPED_TRACE(testing::PrintToString(words));
    Json e = error(words, 2);
    EXPECT_EQ(e.value("code", ""), "invalid_input");
    EXPECT_EQ(e.value("field", ""), field);
    const Finished plain = satchel(words);
    EXPECT_EQ(plain.exit_code, 2);
    EXPECT_EQ(plain.out, "");
    EXPECT_TRUE(plain.err.starts_with("satchel: ")) << plain.err;
    EXPECT_EQ(plain.err.find('\n'), plain.err.size() - 1) << plain.err;
    EXPECT_NE(plain.err.find(says), std::string::npos) << plain.err;
    EXPECT_FALSE(std::filesystem::exists(store()));
  }
};

TEST_F(UsageTest, WithoutArgumentsHelpGoesToStderr) {
  const Finished done = satchel({});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(done.out, "");
  EXPECT_NE(done.err.find("Usage: satchel"), std::string::npos);
}

TEST_F(UsageTest, EveryHelpHasAnExampleAndFits80Columns) {
  const Words commands = {"mint",   "get",    "save",    "patch",   "touch",
                          "list",   "revoke", "sweep",   "history", "changes",
                          "revert", "demo",   "version", "help"};
  std::vector<Words> calls = {{"--help"}, {"help"}, {"-h"}};
  for (const auto& c : commands) {
    calls.push_back({c, "--help"});
    calls.push_back({"help", c});
  }
  calls.push_back({"kv", "--help"});
  for (const auto* c : {"get", "set", "has", "delete", "incr", "decr", "keys",
                        "mget", "usage"}) {
    calls.push_back({"kv", c, "--help"});
    calls.push_back({"help", "kv", c});
  }
  for (const Words& words : calls) {
    SCOPED_TRACE(testing::PrintToString(words));
    const Finished done = satchel(words);
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_EQ(done.err, "");
    EXPECT_NE(done.out.find("Example:\n  satchel "), std::string::npos);
    std::istringstream in(done.out);
    for (std::string line; std::getline(in, line);) {
      EXPECT_LE(line.size(), 80u) << line;
    }
  }
}

TEST_F(UsageTest, MissingArgumentsAreNamed) {
  refused({"mint"}, "arguments", "KIND");
  refused({"mint", "note"}, "arguments", "STATE");
  refused({"get"}, "arguments", "HANDLE");
  refused({"save", "h"}, "arguments", "STATE");
  refused({"patch", "h"}, "arguments", "OPS");
  refused({"touch"}, "arguments", "HANDLE");
  refused({"revoke"}, "arguments", "HANDLE");
  refused({"history"}, "arguments", "HANDLE");
  refused({"changes", "--since", "1"}, "arguments", "HANDLE");
  refused({"revert", "--to", "1"}, "arguments", "HANDLE");
  refused({"save", "h", "{}"}, "expect_version", "--expect-version");
  refused({"touch", "h"}, "ttl", "--persist");
  refused({"changes", "h"}, "since", "--since");
  refused({"revert", "h"}, "to_version", "--to");
  refused({"--user", "a"}, "arguments", "command");
}

TEST_F(UsageTest, SuperfluousArgumentsAreRefused) {
  refused({"get", "h", "list"}, "arguments", "'list'");
  refused({"mint", "note", "{}", "x"}, "arguments", "'x'");
  refused({"list", "x"}, "arguments", "'x'");
  refused({"sweep", "x"}, "arguments", "'x'");
  refused({"version", "x"}, "arguments", "'x'");
  refused({"get", "h", "++"}, "arguments", "++");
  refused({"revoke", "a", "b", "--request-id", "r"}, "arguments", "one handle");
  refused({"touch", "h", "--ttl", "1d", "--persist"}, "arguments", "exclude");
}

TEST_F(UsageTest, UnknownNamesSuggestTheNearest) {
  refused({"gett", "h"}, "arguments", "Did you mean 'get'?");
  refused({"help", "mnt"}, "arguments", "Did you mean 'mint'?");
  refused({"save", "h", "{}", "--expect-versoin", "1"}, "arguments",
          "Did you mean '--expect-version'?");
  refused({"--jsno", "list"}, "arguments", "Did you mean '--json'?");
  refused({"get", "-x"}, "arguments", "'-x'");
  refused({"frobnicate"}, "arguments", "unknown command");
}

TEST_F(UsageTest, OptionGivenTwiceIsRefused) {
  refused({"--user", "a", "get", "h", "--user=b"}, "arguments", "twice");
  refused({"get", "h", "--path", "a", "--path", "a"}, "arguments", "twice");
  refused({"touch", "h", "--persist", "--persist"}, "arguments", "twice");
  const Finished done = satchel({"list", "--json", "--json"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_NE(done.out.find("\"field\":\"arguments\""), std::string::npos);
}

TEST_F(UsageTest, OptionsKnowWhetherTheyTakeAValue) {
  refused({"list", "--include-expired=yes"}, "arguments", "takes no value");
  refused({"touch", "h", "--persist="}, "arguments", "takes no value");
  refused({"list", "--limit"}, "arguments", "needs a value");
}

TEST_F(UsageTest, NumbersAreWholeAndInDigits) {
  for (const std::string bad : {"1.5", "1e3", "-1", "99999999999999999999", "",
                                " 1", "+1", "0x1", "one", "1\n"}) {
    refused({"save", "h", "{}", "--expect-version", bad}, "expect_version",
            "--expect-version");
    refused({"get", "h", "--version=" + bad}, "version", "--version");
    refused({"changes", "h", "--since", bad}, "since", "--since");
    refused({"list", "--limit", bad}, "limit", "--limit");
    refused({"revert", "h", "--to", bad}, "to_version", "--to");
  }
  refused({"list", "--limit", "0"}, "limit", "1 to 1000");
  refused({"list", "--limit", "1001"}, "limit", "1 to 1000");
}

TEST_F(UsageTest, LifetimesHaveANumberAndAUnit) {
  for (const std::string bad :
       {"7", "d", "", "1e3s", "-5m", "5 m", "5M", "1.s", ".5h", "1h30m", "inf",
        "nan", "0x1s", "5\xc2\xb5s", "5us"}) {
    refused({"mint", "note", "{}", "--ttl", bad}, "ttl", "--ttl");
    refused({"touch", "h", "--ttl=" + bad}, "ttl", "--ttl");
  }
}

TEST_F(UsageTest, EmptyValuesAreRefusedByName) {
  refused({"--user", "", "list"}, "user");
  refused({"--user=", "list"}, "user");
  refused({"list", "--store="}, "store");
  refused({"--writer=", "mint", "note", "{}"}, "writer");
  refused({"get", "h", "--writer", ""}, "writer");
  refused({"list", "--kind="}, "kind");
  refused({"list", "--cursor="}, "cursor");
  refused({"mint", "note", "{}", "--request-id="}, "request_id");
}

TEST_F(UsageTest, BadEnvironmentNamesTheVariable) {
  env_["SATCHEL_DURABILITY"] = "fast";
  refused({"list"}, "store", "SATCHEL_DURABILITY");
  env_["SATCHEL_DURABILITY"] = "";
  for (const char* bad : {"1", "0", "1073741825", "-5", "1M", "x"}) {
    env_["SATCHEL_MAX_STATE_BYTES"] = bad;
    refused({"mint", "note", "{}"}, "store", "SATCHEL_MAX_STATE_BYTES");
  }
  env_["SATCHEL_MAX_STATE_BYTES"] = "";
  refused({"--durability", "fast", "list"}, "arguments", "--durability");
}

TEST_F(UsageTest, VersionComesInThreeSpellings) {
  Json version = object({"version"});
  EXPECT_EQ(version.value("format", 0), 1);
  EXPECT_FALSE(version.value("program", "").empty());
  EXPECT_FALSE(version.value("rocksdb", "").empty());
  EXPECT_EQ(satchel({"--version"}).out, satchel({"version"}).out);
  EXPECT_EQ(satchel({"--json", "--version"}).out, version.dump() + '\n');
}

}  // namespace
}  // namespace satchel::test
