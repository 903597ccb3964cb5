// The real `satchel serve` over pipes.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <set>

#include "satchel/patch.h"
#include "tests/support/http_client.h"
#include "tests/support/program.h"

namespace satchel::test {
namespace {

class StdioTest : public ProgramTest {
 protected:
  Command command(const Words& options = {}) const {
    Command command;
    command.argv = {satchel_binary(), "serve"};
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    // A pipe.
    command.input = "";
    command.env = env_;
    command.directory = root_;
    return command;
  }

  static std::string request(const Json& id, const std::string& method,
                             const Json& params = Json::object()) {
    return Json{{"jsonrpc", "2.0"},
                {"id", id},
                {"method", method},
                {"params", params}}
               .dump() +
           '\n';
  }
  static std::string call(const Json& id, const std::string& tool,
                          const Json& arguments) {
    return request(id, "tools/call",
                   {{"name", tool}, {"arguments", arguments}});
  }

  /// Sends everything, ends the input, and returns every line of output.
  std::vector<Json> talk(const std::string& lines) {
    Command served = command();
    served.input = lines;
    const Finished done = run(served);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    err_ = done.err;
    std::vector<Json> out;
    std::istringstream text(done.out);
    for (std::string line; std::getline(text, line);) {
      out.push_back(Json::parse(line, nullptr, false));
      EXPECT_FALSE(out.back().is_discarded()) << line;
    }
    return out;
  }
  Json answer(const std::vector<Json>& lines, const Json& id) {
    for (const Json& line : lines) {
      if (line.is_object() && line.value("id", Json()) == id) return line;
    }
    ADD_FAILURE() << "no answer to " << id;
    return Json::object();
  }
  /// The object of one call in a process of its own.
  Json tool(const std::string& name, const Json& arguments) {
    return object_in(answer(talk(call(1, name, arguments)), 1));
  }
  static Json object_in(const Json& response) {
    const Json result = response.value("result", Json::object());
    const Json object = result.value("structuredContent", Json::object());
    EXPECT_TRUE(object.contains("ok")) << response;
    EXPECT_EQ(object.value("ok", false), !result.value("isError", false));
    const Json content = result.value("content", Json::array());
    EXPECT_EQ(content.size(), 1u);
    if (content.size() == 1) {
      EXPECT_EQ(Json::parse(content[0].value("text", "")), object);
    }
    return object;
  }
  static std::string code(const Json& object) {
    return object.value("error", Json::object()).value("code", "");
  }

  std::string err_;
};

TEST_F(StdioTest, ParallelPatchesAllLand) {
  const std::string handle = mint("{}");
  std::string lines;
  for (int i = 0; i < 50; ++i) {
    lines += call(
        i, "state_patch",
        {{"handle", handle},
         {"ops", Json::array({op::set_key("", "k" + std::to_string(i), i)})},
         {"return_state", false}});
  }
  std::set<std::uint64_t> versions;
  const auto out = talk(lines);
  EXPECT_EQ(out.size(), 50u);
  for (int i = 0; i < 50; ++i) {
    versions.insert(object_in(answer(out, i)).value("version", 0u));
  }
  EXPECT_EQ(versions.size(), 50u);
  EXPECT_EQ(*versions.rbegin(), 51u);
  const Json loaded = tool("state_load", {{"handle", handle}});
  EXPECT_EQ(loaded.at("state").size(), 50u);
  EXPECT_GT(loaded.value("size_bytes", 0), 300);
}

TEST_F(StdioTest, ACreateMentionsStatesOfTheSameKind) {
  const Json arguments = {{"kind", "note"}, {"state", Json::object()}};
  const Json first = tool("state_save", arguments);
  EXPECT_FALSE(first.contains("note"));
  const Json second = tool("state_save", arguments);
  EXPECT_NE(second.value("note", "").find(first.value("handle", "?")),
            std::string::npos);
}

TEST_F(StdioTest, AStaleSaveShowsTheCurrentState) {
  const std::string handle = mint();
  const auto save = [&](int version) {
    return tool("state_save", {{"handle", handle},
                               {"state", {{"v", version}}},
                               {"expect_version", version}});
  };
  EXPECT_EQ(save(1).value("version", 0), 2);
  const Json stale = save(1);
  EXPECT_EQ(code(stale), "stale_write");
  EXPECT_EQ(stale.at("error").at("current").at("state"), Json({{"v", 1}}));
  EXPECT_EQ(stale.at("error").at("current").at("version"), 2);
}

TEST_F(StdioTest, ARepeatedRequestIdIsAppliedOnceAcrossRestarts) {
  const std::string handle = mint(R"({"a":[]})");
  const Json arguments = {{"handle", handle},
                          {"ops", Json::array({op::append("a", 1)})},
                          {"request_id", "r"}};
  const Json first = tool("state_patch", arguments);
  EXPECT_EQ(first, tool("state_patch", arguments));
  EXPECT_EQ(first.at("state").at("a").size(), 1u);
}

TEST_F(StdioTest, HostileLinesLeaveItServing) {
  const std::string deep(100'000, '[');
  const auto out = talk(
      "garbage\n\n   \n[]\nnull\n{\"jsonrpc\":\"2.0\",\"id\":1\n\xFF\xFE\n" +
      deep + "\n" + std::string(3, '\0') + "\n" +
      "\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"}\r\n"
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\"}\n"
      "{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"ping\"}");
  EXPECT_EQ(answer(out, "b").at("result"), Json::object());
  EXPECT_EQ(answer(out, "last").at("result"), Json::object());
  EXPECT_EQ(out.size(), 9u);
  for (const Json& line : out) {
    EXPECT_FALSE(line.contains("id") && line.at("id").is_null()) << line;
  }
}

TEST_F(StdioTest, ALineWithoutEndIsRefusedInBoundedMemory) {
  Command served = command();
  // What ASan keeps of freed memory is not the program's.
  served.env["ASAN_OPTIONS"] = "quarantine_size_mb=1";
  Process process(served);
  ASSERT_TRUE(process.write(request(0, "ping")));
  ASSERT_TRUE(process.read_line());
  const auto peak_kib = [&] { return process_status(process.pid(), "VmHWM"); };
  const auto before = peak_kib();
  const std::string piece(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(process.write(piece));
  ASSERT_TRUE(process.write("\n" + request(1, "ping")));
  const auto refused = Json::parse(process.read_line().value());
  EXPECT_EQ(refused.at("error").value("code", 0), -32700);
  const auto pong = Json::parse(process.read_line().value());
  EXPECT_EQ(pong.at("result"), Json::object());
  EXPECT_LT(peak_kib() - before, 50u << 10);
  process.close_input();
  EXPECT_EQ(process.wait().exit_code, 0);
}

TEST_F(StdioTest, ABatchIsAnsweredAsAnArray) {
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const auto out =
      talk("[" + ping +
           R"(,{"jsonrpc":"2.0","method":"notifications/initialized"})" +
           R"(,{"jsonrpc":"2.0","id":2,"method":"tools/call",)"
           R"("params":{"name":"state_list"}},7])" +
           "\n");
  ASSERT_EQ(out.size(), 1u);
  ASSERT_EQ(out[0].size(), 3u) << out[0];
  EXPECT_EQ(out[0][0].at("id"), 1);
  EXPECT_TRUE(object_in(out[0][1]).value("ok", false));
  EXPECT_EQ(out[0][2].at("error").at("code"), -32600);
}

TEST_F(StdioTest, AnUnusableStoreIsAToolErrorUntilItIsUsable) {
  write_file("store", "this is a file");
  Process server(command());
  ASSERT_TRUE(server.write(call(1, "state_list", Json::object())));
  const auto refused = server.read_line();
  ASSERT_TRUE(refused);
  const Json error = object_in(Json::parse(*refused)).at("error");
  EXPECT_EQ(error.value("code", ""), "not_a_store");
  EXPECT_EQ(refused->find(root_), std::string::npos) << *refused;
  std::filesystem::remove(store());
  ASSERT_TRUE(server.write(call(2, "state_list", Json::object())));
  const auto served = server.read_line();
  ASSERT_TRUE(served);
  EXPECT_TRUE(object_in(Json::parse(*served)).value("ok", false)) << *served;
  server.close_input();
  const Finished done = server.wait();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_NE(done.err.find(store()), std::string::npos) << done.err;
}

TEST_F(StdioTest, PingIsAnsweredWhileTheStoreIsLocked) {
  Process first(command());
  ASSERT_TRUE(first.write(call(1, "state_list", Json::object())));
  ASSERT_TRUE(first.read_line());
  Process second(command());
  ASSERT_TRUE(
      second.write(call(1, "state_list", Json::object()) + request(2, "ping")));
  const auto pong = second.read_line();
  ASSERT_TRUE(pong);
  EXPECT_EQ(Json::parse(*pong).at("id"), 2);
  const auto refused = second.read_line();
  ASSERT_TRUE(refused);
  EXPECT_EQ(code(object_in(Json::parse(*refused))), "store_locked");
  first.close_input();
  EXPECT_EQ(first.wait().exit_code, 0);
  ASSERT_TRUE(second.write(call(3, "state_list", Json::object())));
  const auto served = second.read_line();
  ASSERT_TRUE(served);
  EXPECT_TRUE(object_in(Json::parse(*served)).value("ok", false));
}

TEST_F(StdioTest, ACancelledCallIsNotAnswered) {
  const auto out =
      talk(call(7, "state_save", {{"kind", "note"}, {"state", {{"a", 1}}}}) +
           "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
           "\"params\":{\"requestId\":7}}\n"
           "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
           "\"params\":{\"requestId\":8}}\n" +
           request(9, "ping"));
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(answer(out, 9).at("result"), Json::object());
}

TEST_F(StdioTest, EndsWithItsInputWithSigtermAndWithItsReader) {
  for (const int signal : {0, SIGTERM, SIGINT}) {
    Process server(command());
    ASSERT_TRUE(server.write(
        call(1, "state_save", {{"kind", "note"}, {"state", {{"a", 1}}}})));
    ASSERT_TRUE(server.read_line());
    const auto start = std::chrono::steady_clock::now();
    if (signal == 0) {
      server.close_input();
    } else {
      server.kill(signal);
    }
    const Finished done = server.wait();
    EXPECT_EQ(done.exit_code, 0) << signal;
    EXPECT_LT(std::chrono::steady_clock::now() - start,
              std::chrono::seconds(2));
  }
  const Json listed = tool("state_list", Json::object());
  EXPECT_EQ(listed.at("handles").size(), 3u);
}

TEST_F(StdioTest, EndsWhenTheReaderOfASocketIsGone) {
  int to_child[2];
  int from_child[2];
  ASSERT_EQ(::pipe2(to_child, O_CLOEXEC), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, from_child),
            0);
  const auto binary = satchel_binary();
  const auto store_option = "--store=" + store();
  const char* const argv[] = {binary.c_str(), store_option.c_str(), "serve",
                              nullptr};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(to_child[0], 0);
    ::dup2(from_child[1], 1);
    ::execv(argv[0], const_cast<char* const*>(argv));
    ::_exit(127);
  }
  ::close(to_child[0]);
  ::close(from_child[1]);
  const auto ping = request(1, "ping");
  EXPECT_GT(::write(to_child[1], ping.data(), ping.size()), 0);
  char answer[256];
  EXPECT_GT(::read(from_child[0], answer, sizeof answer), 0);
  ::close(from_child[0]);
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  pollfd ended = {handle, POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 5000), 1) << "it still runs";
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ::close(handle);
  ::close(to_child[1]);
}

TEST_F(StdioTest, AWriterThatNoCallMayNameIsNoStart) {
  env_["SATCHEL_WRITER"] = std::string(257, 'w');
  Command served = command();
  served.input = request(1, "ping");
  const Finished done = run(served);
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_NE(done.err.find("SATCHEL_WRITER"), std::string::npos) << done.err;
}

TEST_F(StdioTest, AReplyThatClientsCannotReadIsRefusedBySize) {
  env_["SATCHEL_MAX_STATE_BYTES"] = "8388608";
  const std::string text(std::size_t{6} << 20, 'x');
  const Json saved = tool("state_save", {{"kind", "big"},
                                         {"state", {{"t", text}, {"n", 1}}},
                                         {"return_state", true}});
  const Json handle = saved.at("handle");
  EXPECT_TRUE(saved.value("ok", false));
  EXPECT_FALSE(saved.contains("state"));
  EXPECT_TRUE(saved.contains("note"));
  const Json second =
      tool("state_save",
           {{"kind", "big"}, {"state", {{"t", text}}}, {"return_state", true}});
  const auto note = second.value("note", "");
  EXPECT_NE(note.find("was applied"), std::string::npos) << note;
  EXPECT_NE(note.find("already had"), std::string::npos) << note;
  const Json refused = tool("state_load", {{"handle", handle}});
  EXPECT_EQ(code(refused), "state_too_large");
  EXPECT_EQ(refused.at("error").at("limit_bytes"), 10485760);
  EXPECT_GT(refused.at("error").at("size_bytes"), 10485760);
  EXPECT_EQ(tool("state_load", {{"handle", handle}, {"path", "n"}}).at("state"),
            1);
}

TEST_F(StdioTest, ResourcesComeInPagesAndReadLikeStateLoad) {
  std::string lines;
  for (int i = 0; i < 260; ++i) {
    lines += call(i, "state_save", {{"kind", "note"}, {"state", {{"i", i}}}});
  }
  ASSERT_EQ(talk(lines).size(), 260u);
  const Json first = answer(talk(request(1, "resources/list")), 1).at("result");
  EXPECT_EQ(first.at("resources").size(), 250u);
  const Json second =
      answer(talk(request(1, "resources/list",
                          {{"cursor", first.at("nextCursor")}})),
             1)
          .at("result");
  EXPECT_EQ(second.at("resources").size(), 10u);
  EXPECT_FALSE(second.contains("nextCursor"));
  const Json resource = second.at("resources").at(0);
  const Json read =
      answer(talk(request(1, "resources/read", {{"uri", resource.at("uri")}})),
             1)
          .at("result")
          .at("contents")
          .at(0);
  EXPECT_EQ(Json::parse(read.value("text", "")),
            tool("state_load", {{"handle", resource.at("name")}}));
}

TEST_F(StdioTest, AReservedUserIsRefused) {
  for (const char* user : {"jwt:a", "token:a", "anon:a"}) {
    env_["SATCHEL_USER"] = user;
    Command served = command();
    served.input = request(1, "ping");
    const Finished done = run(served);
    EXPECT_EQ(done.exit_code, 2) << user;
    EXPECT_EQ(done.out, "") << user;
  }
}

TEST_F(StdioTest, WritersAreNamedByArgumentEnvironmentOrClient) {
  const Json state = {{"kind", "note"}, {"state", Json::object()}};
  EXPECT_EQ(tool("state_save", state).value("last_writer", ""), "test");
  Json named = state;
  named["writer"] = "me";
  EXPECT_EQ(tool("state_save", named).value("last_writer", ""), "me");
  env_["SATCHEL_WRITER"] = std::nullopt;
  const auto out =
      talk(request(0, "initialize",
                   {{"protocolVersion", "2025-06-18"},
                    {"capabilities", Json::object()},
                    {"clientInfo", {{"name", "robot"}, {"version", "1"}}}}) +
           call(1, "state_save", state));
  EXPECT_TRUE(
      object_in(answer(out, 1)).value("last_writer", "").starts_with("robot"));
}

}  // namespace
}  // namespace satchel::test
