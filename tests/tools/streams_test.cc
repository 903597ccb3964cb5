// Standard input and output in every odd condition, and what people see.

#include <signal.h>

#include "tests/support/program.h"

namespace satchel::test {
namespace {

class StreamsTest : public ProgramTest {};

TEST_F(StreamsTest, StateComesFromStdinOrAFile) {
  write_file("state.json", R"({"from":"file"})");
  EXPECT_EQ(
      object({"mint", "note", "@state.json", "--return-state"})["state"].dump(),
      R"({"from":"file"})");
  EXPECT_EQ(object({"mint", "note", "-", "--return-state"}, 0,
                   R"({"from":"stdin"})")["state"]
                .dump(),
            R"({"from":"stdin"})");
  const std::string h = mint();
  EXPECT_EQ(object({"patch", h, "-"}, 0, "[]")["version"], 1);
}

TEST_F(StreamsTest, UnreadableInputIsRefusedByField) {
  for (const std::string bad : {"@nope.json", "@", "@home", "-"}) {
    EXPECT_EQ(error({"mint", "note", bad}, 2)["field"], "state") << bad;
    EXPECT_EQ(error({"patch", "h", bad}, 2)["field"], "ops") << bad;
  }
}

TEST_F(StreamsTest, InputBeyondEightTimesTheCapIsNotRead) {
  env_["SATCHEL_MAX_STATE_BYTES"] = "100";
  const std::string spaced = "{" + std::string(700, ' ') + "}";
  EXPECT_EQ(object({"mint", "note", "-"}, 0, spaced)["version"], 1);
  const std::string over = "{" + std::string(800, ' ') + "}";
  write_file("over.json", over);
  for (const auto& [argument, input] :
       std::map<std::string, std::optional<std::string>>{
           {"-", over}, {"@over.json", std::nullopt}, {over, std::nullopt}}) {
    Json e = error({"mint", "note", argument}, 2, input);
    EXPECT_EQ(e["code"], "state_too_large");
    EXPECT_EQ(e["limit_bytes"], 100);
    EXPECT_GT(e["size_bytes"], 800);
  }
  Json e =
      error({"mint", "note", "{\"a\":\"" + std::string(100, 'x') + "\"}"}, 2);
  EXPECT_EQ(e["code"], "state_too_large");
  EXPECT_EQ(e["size_bytes"], 108);
}

TEST_F(StreamsTest, EndlessInputEnds) {
  env_["SATCHEL_MAX_STATE_BYTES"] = "1000";
  EXPECT_EQ(error({"mint", "note", "@/dev/zero"}, 2)["code"],
            "state_too_large");
}

TEST_F(StreamsTest, FullDeviceIsReported) {
  stdout_path_ = "/dev/full";
  for (const Words& words :
       {Words{"list"}, Words{"mint", "note", "{}"}, Words{"--json", "list"},
        Words{"--help"}, Words{"demo"}}) {
    const Finished done = satchel(words);
    EXPECT_EQ(done.exit_code, 5) << words[0];
    EXPECT_NE(done.err.find("standard output"), std::string::npos) << done.err;
  }
}

TEST_F(StreamsTest, ReaderThatLeavesEndsItQuietly) {
  const std::string h =
      object({"mint", "note", "-"}, 0,
             "{\"t\":\"" + std::string(500'000, 'x') + "\"}")["handle"];
  for (const char* trap : {"", "trap '' PIPE; "}) {
    Command command;
    command.env = env_;
    command.argv = {"/bin/sh", "-c",
                    std::string(trap) + "{ \"$0\" get " + h +
                        "; echo $? >&2; } | head -c 10",
                    satchel_binary()};
    const Finished done = run(command);
    EXPECT_TRUE(done.err == "0\n" || done.err == "141\n") << done.err;
  }
}

TEST_F(StreamsTest, ClosedDescriptorsDoNotReachTheStore) {
  const std::string h = mint();
  Command command;
  command.env = env_;
  command.argv = {"/bin/sh", "-c",
                  "\"$0\" mint note '{}' >&- 2>&- <&-; echo $?",
                  satchel_binary()};
  EXPECT_EQ(run(command).out, "5\n");
  EXPECT_EQ(object({"get", h})["state"].dump(), R"({"a":1})");
  EXPECT_EQ(object({"list"})["handles"].size(), 2u);
}

TEST_F(StreamsTest, ControlAndBidiCharactersAreEscapedForPeople) {
  const std::string evil =
      "x\xc2\x9b"
      "31m\xe2\x80\xae"
      "z\x7f\xe2\x81\xa6\xe2\x80\x8f";
  Json state = {{"k\x1b", evil}, {"n", "\u0001"}};
  const std::string h = mint(state.dump(), {"--writer", "w\x1b[2J" + evil});
  const Finished got = satchel({"get", h});
  EXPECT_EQ(Json::parse(got.out), state);
  for (const Words& words :
       {Words{"get", h}, Words{"list"}, Words{"history", h},
        Words{"changes", h, "--since", "1"},
        Words{"save", h, "{}", "--expect-version", "9"}, Words{"get", evil},
        Words{"mint", evil, "{}"}}) {
    const Finished done = satchel(words);
    const std::string text = done.out + done.err;
    for (const char* bad : {"\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xae",
                            "\xe2\x81\xa6", "\xe2\x80\x8f"}) {
      EXPECT_EQ(text.find(bad), std::string::npos) << words[0] << text;
    }
  }
  EXPECT_NE(satchel({"list"}).out.find("w\\u001b[2J"), std::string::npos);
}

}  // namespace
}  // namespace satchel::test
