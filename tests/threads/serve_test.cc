// The server as a program under ThreadSanitizer: calls of many clients at once
// over HTTP, beside SIGHUP and connections that come and go, and over stdio.

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <set>
#include <sstream>

#include "tests/support/http_client.h"
#include "threads.h"

namespace satchel::test {
namespace {

class ServeThreads : public HttpTest {
 protected:
  ServeThreads() {
    // As in suppressions.cc, for the program.
    write_file("suppressions", "race:rocksdb::WriteBatch\n");
    env_["TSAN_OPTIONS"] =
        "ignore_noninstrumented_modules=1 suppressions=" + path("suppressions");
  }
};

TEST_F(ServeThreads, ManyClientsBesideReloadsOfTheTokens) {
  const auto tokens =
      tokens_file({{{"token", "t"}, {"user", "u"}, {"app", "a"}}});
  start({"--tokens", tokens, "--audit-log", path("audit")});
  const auto made =
      call("state_save", {{"kind", "note"}, {"state", {{"n", 0}}}}, "t");
  const auto handle = made.value("handle", "");
  constexpr int kThreads = 8;
  constexpr int kCalls = 25;
  std::atomic<int> failed{0};
  in_threads(kThreads, [&](int t) {
    for (int i = 0; i < kCalls; ++i) {
      const auto ops = Json::array(
          {{{"op", "increment"}, {"path", ""}, {"key", "n"}, {"by", 1}}});
      failed += !call("state_patch", {{"handle", handle}, {"ops", ops}}, "t")
                     .value("ok", false);
      failed += !call("state_list", {{"limit", 5}}, "t").value("ok", false);
      failed +=
          kv("increment", {{"key", "c"}, {"ttl", 60}}, "u", "a", "t").status !=
          200;
      failed += ask("POST", "/mcp").status == 200;
      if (t == 0) signal(SIGHUP);
    }
  });
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(call("state_load", {{"handle", handle}}, "t")["state"]["n"],
            kThreads * kCalls);
  EXPECT_EQ(kv("get", {{"key", "c"}}, "u", "a", "t").json()["result"],
            kThreads * kCalls);
  // A report of ThreadSanitizer ends the program with another code.
  const auto done = stop();
  EXPECT_EQ(done.exit_code, 0) << done.out;
}

TEST_F(ServeThreads, CallsOverStdioAtOnce) {
  std::string lines;
  constexpr int kCalls = 100;
  for (int i = 0; i < kCalls; ++i) {
    lines += Json{{"jsonrpc", "2.0"},
                  {"id", i},
                  {"method", "tools/call"},
                  {"params",
                   {{"name", "state_save"},
                    {"arguments", {{"kind", "note"}, {"state", {{"i", i}}}}}}}}
                 .dump() +
             '\n';
  }
  Command command;
  command.argv = {satchel_binary(), "serve"};
  command.env = env_;
  command.input = lines;
  const auto done = run(command);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  std::set<int> answered;
  std::istringstream out(done.out);
  for (std::string line; std::getline(out, line);) {
    const auto answer = Json::parse(line);
    EXPECT_TRUE(answer["result"]["structuredContent"].value("ok", false));
    answered.insert(answer.value("id", -1));
  }
  EXPECT_EQ(answered.size(), static_cast<std::size_t>(kCalls));
}

}  // namespace
}  // namespace satchel::test
