// satchel kv: what each command prints, refuses and returns.

#include <memory>
#include <regex>
#include <set>

#include "tests/support/program.h"

namespace satchel::test {
namespace {

class KvCommandsTest : public ProgramTest {
 protected:
  static Words kv(const Words& words) {
    Words all = {"kv", "--app", "mailer"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  /// Output on a successful run, times replaced.
  std::string golden(const Words& words, int exit_code = 0) {
    const Finished done = satchel(kv(words));
    EXPECT_EQ(done.exit_code, exit_code) << done.err;
    EXPECT_EQ(done.err, "");
    auto text = std::regex_replace(
        done.out, std::regex("20[0-9-]{8}T[0-9:]{8}\\.[0-9]{6}Z"), "T");
    return std::regex_replace(text, std::regex("20[0-9-]{8} [0-9:]{8}"), "D");
  }
  std::string json(Words words, int exit_code = 0) {
    words.push_back("--json");
    return golden(words, exit_code);
  }
  Json refused(const Words& words, int exit_code) {
    return error(kv(words), exit_code);
  }
  void set(const std::string& key, const std::string& value) {
    json({"set", key, value, "--ttl", "1h"});
  }
};

TEST_F(KvCommandsTest, SetAndGetPrintTheEntry) {
  EXPECT_EQ(golden({"set", "k", R"({"b":1.0,"a":725653563933458432})", "--ttl",
                    "90d"}),
            "set k: expires D UTC\n");
  EXPECT_EQ(
      json({"set", "k", R"({"b":1.0,"a":725653563933458432})", "--ttl", "1h"}),
      "{\"ok\":true,\"key\":\"k\",\"expires_at\":\"T\"}\n");
  EXPECT_EQ(json({"get", "k"}),
            R"({"ok":true,"key":"k","value":{"b":1.0,"a":725653563933458432},)"
            "\"expires_at\":\"T\"}\n");
  EXPECT_EQ(golden({"get", "k"}),
            "{\n  \"b\": 1.0,\n  \"a\": 725653563933458432\n}\n");
}

TEST_F(KvCommandsTest, WhatIsAbsentIsKeyNotFoundForGetAlone) {
  EXPECT_EQ(refused({"get", "k"}, 1)["code"], "key_not_found");
  EXPECT_EQ(json({"has", "k"}, 1), "{\"ok\":true,\"exists\":false}\n");
  EXPECT_EQ(golden({"has", "k"}, 1), "no\n");
  EXPECT_EQ(json({"delete", "k"}), "{\"ok\":true,\"removed\":false}\n");
  EXPECT_EQ(json({"mget", "k"}), "{\"ok\":true,\"values\":{}}\n");
  EXPECT_EQ(json({"keys"}), "{\"ok\":true,\"keys\":[]}\n");
  set("k", "null");
  EXPECT_EQ(json({"has", "k"}), "{\"ok\":true,\"exists\":true}\n");
  EXPECT_EQ(golden({"get", "k"}), "null\n");
}

TEST_F(KvCommandsTest, AMissingStoreIsEmptyToReadersAndNotCreated) {
  const auto before = entries();
  EXPECT_EQ(refused({"get", "k"}, 1)["code"], "key_not_found");
  EXPECT_EQ(json({"has", "k"}, 1), "{\"ok\":true,\"exists\":false}\n");
  EXPECT_EQ(json({"keys"}), "{\"ok\":true,\"keys\":[]}\n");
  EXPECT_EQ(json({"mget", "k"}), "{\"ok\":true,\"values\":{}}\n");
  EXPECT_EQ(object(kv({"usage"}))["key_count"], 0);
  EXPECT_EQ(entries(), before);
}

TEST_F(KvCommandsTest, ConditionsAreExitCode3) {
  set("k", R"({"a":1})");
  EXPECT_EQ(refused({"set", "k", "1", "--ttl", "1h", "--if-absent"}, 3)["code"],
            "condition_failed");
  EXPECT_EQ(refused({"set", "k", "1", "--ttl", "1h", "--expect-value",
                     R"({"a":1.0})"},
                    3)["code"],
            "condition_failed");
  EXPECT_EQ(refused({"set", "none", "1", "--ttl", "1h", "--expect-value", "1"},
                    3)["code"],
            "condition_failed");
  json({"set", "k", "2", "--ttl", "1h", "--expect-value", R"({ "a" : 1 })"});
  json({"set", "new", "1", "--ttl", "1h", "--if-absent"});
  EXPECT_EQ(json({"mget", "new", "k", "new"}),
            "{\"ok\":true,\"values\":{\"k\":2,\"new\":1}}\n");
}

TEST_F(KvCommandsTest, CountersCountBothWays) {
  EXPECT_EQ(json({"incr", "c", "--ttl", "1h"}),
            "{\"ok\":true,\"key\":\"c\",\"value\":1}\n");
  EXPECT_EQ(golden({"incr", "c", "--ttl", "1h", "--by", "-4"}), "-3\n");
  EXPECT_EQ(golden({"decr", "c", "--ttl", "1h", "--by=-10"}), "7\n");
  for (const auto* by :
       {"9007199254740992", "-9007199254740992", "99999999999999999999",
        "-99999999999999999999", "x", "1.5", "9007199254740991", ""}) {
    const auto e = refused({"incr", "c", "--ttl", "1h", "--by", by}, 2);
    EXPECT_EQ(e["field"], "by") << by;
    EXPECT_EQ(e["kv_code"], "INVALID_ARGUMENT") << by;
  }
  set("s", "1.0");
  const auto e = refused({"incr", "s", "--ttl", "1h"}, 2);
  EXPECT_EQ(e["code"], "type_mismatch");
  EXPECT_EQ(e["actual"], "number");
  EXPECT_EQ(e["kv_code"], "TYPE_MISMATCH");
  EXPECT_EQ(golden({"get", "c"}), "7\n");
}

TEST_F(KvCommandsTest, KeysComeInPagesOrAll) {
  for (const auto* key : {"b:2", "a", "b:1", "B"}) set(key, "1");
  EXPECT_EQ(json({"keys"}), R"({"ok":true,"keys":["B","a","b:1","b:2"]})"
                            "\n");
  EXPECT_EQ(json({"keys", "--prefix", ""}),
            R"({"ok":true,"keys":["B","a","b:1","b:2"]})"
            "\n");
  const auto page = object(kv({"keys", "--prefix", "b:", "--limit", "1"}));
  EXPECT_EQ(page["keys"].dump(), R"(["b:1"])");
  const std::string cursor = page["cursor"];
  EXPECT_EQ(
      json({"keys", "--prefix", "b:", "--limit", "1", "--cursor", cursor}),
      R"({"ok":true,"keys":["b:2"]})"
      "\n");
  EXPECT_EQ(refused({"keys", "--cursor", cursor}, 2)["field"], "cursor");
  EXPECT_EQ(refused({"keys", "--limit", "0"}, 2)["field"], "limit");
  EXPECT_EQ(refused({"keys", "--limit", "1001"}, 2)["field"], "limit");
  EXPECT_EQ(golden({"keys", "--prefix", "b"}),
            "KEY  EXPIRES (UTC)\nb:1  D\nb:2  D\n");
}

TEST_F(KvCommandsTest, DeleteTakesAKeyOrAPrefix) {
  for (const auto* key : {"a:1", "a:2", "b"}) set(key, "1");
  EXPECT_EQ(json({"delete", "a:1"}), "{\"ok\":true,\"removed\":true}\n");
  EXPECT_EQ(json({"delete", "--prefix", "a:"}),
            "{\"ok\":true,\"removed\":1}\n");
  EXPECT_EQ(golden({"delete", "--prefix", ""}), "removed 1 key\n");
  EXPECT_EQ(refused({"delete"}, 2)["field"], "arguments");
  EXPECT_EQ(refused({"delete", "k", "--prefix", "p"}, 2)["field"], "arguments");
  EXPECT_EQ(refused({"delete", ""}, 2)["kv_code"], "INVALID_KEY");
}

TEST_F(KvCommandsTest, UsageCountsKeysAndValues) {
  set("key", R"("é")");
  EXPECT_EQ(json({"usage"}),
            R"({"ok":true,"user":"local","app":"mailer","used_bytes":7,)"
            R"("limit_bytes":1048576,"key_count":1})"
            "\n");
  EXPECT_EQ(golden({"usage"}), "7 of 1048576 bytes in 1 key\n");
}

TEST_F(KvCommandsTest, LimitsCarryTheirNumbers) {
  write_file("big", '"' + std::string(65'535, 'x') + '"');
  const auto large = refused({"set", "k", "@" + path("big"), "--ttl", "1h"}, 2);
  EXPECT_EQ(large["code"], "value_too_large");
  EXPECT_EQ(large["kv_code"], "VALUE_TOO_LARGE");
  EXPECT_EQ(large["valueBytes"], 65'537);
  EXPECT_EQ(large["limitBytes"], 65'536);
  write_file("most", '"' + std::string(65'534, 'x') + '"');
  for (char c = 'a'; c < 'p'; ++c) set(std::string(1, c), "@" + path("most"));
  const auto full = refused({"set", "q", "@" + path("most"), "--ttl", "1h"}, 2);
  EXPECT_EQ(full["code"], "quota_exceeded");
  EXPECT_EQ(full["kv_code"], "QUOTA_EXCEEDED");
  EXPECT_EQ(full["usedBytes"], 15 * 65'537);
  EXPECT_EQ(full["limitBytes"], 1'048'576);
}

TEST_F(KvCommandsTest, EveryCommandChecksAppAndKey) {
  const std::vector<Words> all = {{"get", "a b"},
                                  {"set", "a b", "1", "--ttl", "1h"},
                                  {"has", "a b"},
                                  {"delete", "a b"},
                                  {"incr", "a b", "--ttl", "1h"},
                                  {"decr", "a b", "--ttl", "1h"},
                                  {"mget", "k", "a b"}};
  for (const auto& words : all) {
    EXPECT_EQ(refused(words, 2)["kv_code"], "INVALID_KEY")
        << testing::PrintToString(words);
    Words foreign = {"kv", "--app", "a b"};
    foreign.insert(foreign.end(), words.begin(), words.end());
    EXPECT_EQ(error(foreign, 2)["kv_code"], "INVALID_CONTEXT");
    Words none = {"kv"};
    none.insert(none.end(), words.begin(), words.end());
    EXPECT_NE(error(none, 2)["message"].get<std::string>().find("--app"),
              std::string::npos);
  }
  EXPECT_EQ(refused({"set", "k", "1"}, 2)["kv_code"], "INVALID_TTL");
  EXPECT_EQ(refused({"set", "k", "1", "--ttl", "91d"}, 2)["kv_code"],
            "INVALID_TTL");
  EXPECT_EQ(refused({"set", "k", "1", "--ttl", "soon"}, 2)["kv_code"],
            "INVALID_TTL");
}

TEST_F(KvCommandsTest, WordsWithoutQuotesGetAdvice) {
  const auto e = refused({"set", "k", "dark", "--ttl", "1h"}, 2);
  EXPECT_EQ(e["field"], "value");
  EXPECT_EQ(e["kv_code"], "INVALID_ARGUMENT");
  EXPECT_NE(e["message"].get<std::string>().find(R"('"text"')"),
            std::string::npos);
}

TEST_F(KvCommandsTest, NestedCommandsAreHelpedLikeOthers) {
  const auto message = [&](const Words& words) {
    return error(words, 2)["message"].get<std::string>();
  };
  EXPECT_NE(message({"kv", "--app", "a", "gte", "k"}).find("'get'"),
            std::string::npos);
  EXPECT_NE(message({"kv", "--app", "a"}).find("get, set"), std::string::npos);
  EXPECT_NE(
      message({"kv", "--app", "a", "set", "k"}).find("kv set needs VALUE"),
      std::string::npos);
  EXPECT_NE(message({"kv", "--app", "a", "get", "k", "--tt"}).find("--tt"),
            std::string::npos);
  EXPECT_NE(message({"kv", "--app", "a", "--app", "b", "get", "k"})
                .find("given twice"),
            std::string::npos);
  EXPECT_NE(message({"help", "kv", "st"}).find("'set'"), std::string::npos);
}

TEST_F(KvCommandsTest, ProcessesThatCountTogetherLoseNothing) {
  constexpr int kProcesses = 8;
  std::vector<std::unique_ptr<Process>> all;
  for (int i = 0; i < kProcesses; ++i) {
    Command command;
    command.argv = {satchel_binary(), "--store", store(), "kv",    "--app",
                    "mailer",         "incr",    "c",     "--ttl", "1h"};
    all.push_back(std::make_unique<Process>(command));
  }
  std::set<std::string> values;
  for (auto& each : all) {
    const auto done = each->wait();
    EXPECT_EQ(done.exit_code, 0) << done.err;
    values.insert(done.out);
  }
  EXPECT_EQ(values.size(), static_cast<std::size_t>(kProcesses));
}

}  // namespace
}  // namespace satchel::test
