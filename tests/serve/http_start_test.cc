// What `satchel serve --transport http` starts with, and how it ends.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>

#include "tests/support/http_client.h"

namespace satchel::test {
namespace {

using testing::HasSubstr;

const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

class HttpStart : public HttpTest {
 protected:
  /// The message of a start that is refused with exit code 2.
  std::string refused(const Words& options, int exit_code = 2) {
    Words words = {"serve", "--transport", "http", "--port", "0"};
    words.insert(words.end(), options.begin(), options.end());
    const auto done = satchel(words);
    EXPECT_EQ(done.exit_code, exit_code) << done.err;
    EXPECT_EQ(done.out, "");
    return done.err;
  }
};

TEST_F(HttpStart, WithoutIdentityItNamesTheThreeWays) {
  const auto message = refused({});
  EXPECT_THAT(message, HasSubstr("--tokens"));
  EXPECT_THAT(message, HasSubstr("--jwks"));
  EXPECT_THAT(message, HasSubstr("--allow-anonymous"));
  EXPECT_EQ(entries(), Words({"home"}));
}

TEST_F(HttpStart, JwksNeedsIssuerAndAudience) {
  write_file("keys", R"({"keys":[]})");
  for (const Words& more :
       {Words{}, Words{"--issuer", "i"}, Words{"--audience", "a"}}) {
    Words options = {"--jwks", path("keys")};
    options.insert(options.end(), more.begin(), more.end());
    EXPECT_THAT(refused(options), HasSubstr("--issuer and --audience"));
  }
}

TEST_F(HttpStart, AKeyFileThatCannotBeReadIsNoStart) {
  const Words rest = {"--issuer", "i", "--audience", "a", "--jwks"};
  write_file("bad", "{");
  for (const auto& file : {path("missing"), path("bad")}) {
    Words options = rest;
    options.push_back(file);
    EXPECT_THAT(refused(options), HasSubstr("key set"));
  }
  Words options = rest;
  options.push_back("http://keys.example/jwks.json");
  EXPECT_THAT(refused(options), HasSubstr("https"));
}

TEST_F(HttpStart, ATokensFileThatOthersMayReadIsNoStart) {
  const auto file = tokens_file({{{"token", "t"}, {"user", "u"}}});
  ::chmod(file.c_str(), 0640);
  EXPECT_THAT(refused({"--tokens", file}), HasSubstr("chmod 600"));
  EXPECT_THAT(refused({"--tokens", path("missing")}), HasSubstr("tokens file"));
}

TEST_F(HttpStart, AnAddressBeyondThisMachineNeedsTlsOrAProxy) {
  const Words open = {"--allow-anonymous", "--host", "0.0.0.0"};
  EXPECT_THAT(refused(open), HasSubstr("--behind-proxy"));
  start({"--allow-anonymous", "--host", "0.0.0.0", "--behind-proxy"});
  EXPECT_EQ(post(kPing).status, 200);
  EXPECT_EQ(stop().exit_code, 0);
}

TEST_F(HttpStart, WrongOptionsAreNamed) {
  const Words a = {"--allow-anonymous"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), a.begin(), a.end());
    return refused(more);
  };
  EXPECT_THAT(with({"--allow-host", "a:80"}), HasSubstr("--allow-host"));
  EXPECT_THAT(with({"--allow-origin", "a"}), HasSubstr("--allow-origin"));
  EXPECT_THAT(with({"--path", "/healthz"}), HasSubstr("--path"));
  EXPECT_THAT(with({"--path", "mcp"}), HasSubstr("--path"));
  EXPECT_THAT(with({"--tls-cert", "x"}), HasSubstr("--tls-key"));
  EXPECT_THAT(with({"--scope-by", "app"}), HasSubstr("--scope-by"));
  const auto stdio = satchel({"serve", "--host", "127.0.0.1"}, "");
  EXPECT_EQ(stdio.exit_code, 2);
  EXPECT_THAT(stdio.err, HasSubstr("--transport http"));
}

TEST_F(HttpStart, ATakenPortIsNamed) {
  start({"--allow-anonymous"});
  const auto port = std::to_string(port_);
  const auto done = satchel(
      {"serve", "--transport", "http", "--allow-anonymous", "--port", port});
  EXPECT_NE(done.exit_code, 0);
  EXPECT_THAT(done.err, HasSubstr(port));
  EXPECT_EQ(done.out, "");
}

TEST_F(HttpStart, PrintsItsUrlAndWarnsOfAnonymousCallers) {
  start({"--allow-anonymous", "--path", "/memory"});
  EXPECT_EQ(url_, "http://127.0.0.1:" + std::to_string(port_) + "/memory");
  EXPECT_EQ(
      ask("POST", "/memory", {{"Content-Type", "application/json"}}, kPing)
          .status,
      200);
  EXPECT_EQ(post(kPing).status, 404);
}

TEST_F(HttpStart, StopsWithinASecondBesideIdleConnections) {
  start({"--allow-anonymous"});
  HttpConnection silent(port_);
  HttpConnection asked(port_);
  asked.send(request_text("POST", "/mcp",
                          {{"Content-Type", "application/json"}}, kPing));
  ASSERT_EQ(asked.read()->status, 200);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(stop().exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_TRUE(silent.ended(1000));
  EXPECT_TRUE(asked.ended(1000));
}

TEST_F(HttpStart, ARequestThatIsBeingSentIsAnsweredAfterTheSignal) {
  start({"--allow-anonymous"});
  const auto text = request_text("POST", "/mcp",
                                 {{"Content-Type", "application/json"}}, kPing);
  HttpConnection half(port_);
  half.send(text.substr(0, text.size() - 5));
  // Answered behind the half request: it has been read.
  ASSERT_EQ(post(kPing).status, 200);
  signal(15);
  half.send(text.substr(text.size() - 5));
  const auto answer = half.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->headers.at("connection"), "close");
  EXPECT_EQ(server_->wait().exit_code, 0);
}

TEST_F(HttpStart, AcknowledgedWorkIsThereAfterARestart) {
  start({"--allow-anonymous"});
  const auto made = call("state_save", {{"kind", "k"}, {"state", {{"a", 1}}}});
  EXPECT_EQ(stop(9).exit_code, 128 + 9);
  start({"--allow-anonymous"});
  const auto got = call("state_load", {{"handle", made["handle"]}});
  EXPECT_EQ(got["state"]["a"], 1);
}

TEST_F(HttpStart, LivesAndEndsInTimeWhileCallsWaitForTheStore) {
  Command holder;
  holder.argv = {satchel_binary(), "serve"};
  holder.input = "";
  holder.env = env_;
  Process first(holder);
  ASSERT_TRUE(
      first.write(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})"
                  "\n"));
  ASSERT_TRUE(first.read_line());
  start({"--allow-anonymous"});
  const auto call =
      request_text("POST", "/mcp", {{"Content-Type", "application/json"}},
                   R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})");
  std::vector<std::unique_ptr<HttpConnection>> waiting;
  for (int i = 0; i < 300; ++i) {
    waiting.push_back(std::make_unique<HttpConnection>(port_));
    ASSERT_TRUE(waiting.back()->send(call));
  }
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(1));
  begin = Clock::now();
  EXPECT_EQ(stop().exit_code, 0);
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(5500));
}

TEST_F(HttpStart, ReadinessFollowsTheStore) {
  write_file("store", "no folder");
  start({"--allow-anonymous"});
  EXPECT_EQ(ask("GET", "/healthz", {{"Host", "anything.example"}}).status, 200);
  const auto answer = ask("GET", "/readyz", {{"Host", "anything.example"}});
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, testing::Not(HasSubstr(root_)));
  EXPECT_EQ(post(kPing).status, 200);
  std::filesystem::remove(store());
  EXPECT_EQ(ask("GET", "/readyz").status, 200);
}

TEST_F(HttpStart, AStoreOfAnotherScopeIsNoStart) {
  const auto file =
      tokens_file({{{"token", "t"}, {"user", "u"}, {"client", "c"}}});
  start({"--tokens", file, "--scope-by", "user+client"});
  call("state_save", {{"kind", "k"}, {"state", Json::object()}}, "t");
  stop();
  const auto message = refused({"--tokens", file});
  EXPECT_THAT(message, HasSubstr("user+client"));
  EXPECT_THAT(message, HasSubstr("\"user\""));
}

}  // namespace
}  // namespace satchel::test
