// What the server takes and gives over HTTP: hosts, origins, headers, limits,
// many connections.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/http_client.h"

namespace satchel::test {
namespace {

using testing::HasSubstr;

const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
const std::string kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

class HttpWire : public HttpTest {
 protected:
  int status(const Headers& headers, const std::string& body = kPing) {
    return ask("POST", "/mcp", headers, body).status;
  }
  static Headers json(Headers more = {}) {
    more.emplace_back("Content-Type", "application/json");
    return more;
  }
  std::size_t descriptors() const {
    std::size_t count = 0;
    const auto folder = "/proc/" + std::to_string(server_->pid()) + "/fd";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      count += !entry.path().empty();
    }
    return count;
  }
};

TEST_F(HttpWire, OnlyKnownHostsAndOriginsAreServed) {
  start({"--allow-anonymous", "--audience", "https://mem.example/mcp",
         "--allow-host", "two.example", "--allow-host", "three.example",
         "--allow-origin", "https://app.example"});
  for (const char* host :
       {"localhost", "localhost:1", "127.0.0.1:9", "[::1]:8", "mem.example",
        "MEM.example:443", "two.example", "three.example:80"}) {
    EXPECT_EQ(status(json({{"Host", host}})), 200) << host;
  }
  for (const char* host : {"attacker.example", "localhost.attacker.example",
                           "example", "a.mem.example", "10.0.0.1"}) {
    EXPECT_EQ(status(json({{"Host", host}})), 403) << host;
  }
  for (const char* host : {"", "a b", "user@localhost", "localhost:x"}) {
    EXPECT_EQ(status(json({{"Host", host}})), 400) << host;
  }
  for (const char* origin :
       {"http://localhost:3000", "https://127.0.0.1", "http://[::1]:1",
        "https://mem.example", "https://app.example",
        "https://APP.example:443"}) {
    EXPECT_EQ(status(json({{"Origin", origin}})), 200) << origin;
  }
  for (const char* origin :
       {"null", "https://evil.example", "evil.example", "http://app.example",
        "https://app.example:444", "https://app.example.evil.example",
        "https://localhost.evil.example"}) {
    EXPECT_EQ(status(json({{"Origin", origin}}), "{"), 403) << origin;
  }
}

TEST_F(HttpWire, PagesOfAllowedOriginsGetCorsHeaders) {
  start({"--allow-anonymous", "--allow-origin", "https://app.example"});
  const auto preflight = ask("OPTIONS", "/mcp",
                             {{"Origin", "https://app.example"},
                              {"Access-Control-Request-Method", "POST"}});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.headers.at("access-control-allow-origin"),
            "https://app.example");
  EXPECT_EQ(ask("OPTIONS", "/mcp", {}).status, 405);
}

TEST_F(HttpWire, MethodsTypesAndPaths) {
  start({"--allow-anonymous"});
  for (const char* method : {"GET", "DELETE", "PUT", "PATCH", "HEAD"}) {
    const auto answer = ask(method, "/mcp");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.headers.at("allow"), "POST");
  }
  EXPECT_EQ(ask("POST", "/", json(), kPing).status, 404);
  EXPECT_EQ(ask("POST", "/mcp/", json(), kPing).status, 404);
  EXPECT_EQ(ask("POST", "http://127.0.0.1:1/mcp", json(), kPing).status, 200);
  EXPECT_EQ(ask("POST", "http://evil.example/mcp", json(), kPing).status, 403);
  EXPECT_EQ(status({}), 415);
  EXPECT_EQ(status({{"Content-Type", "text/plain"}}), 415);
  EXPECT_EQ(status({{"Content-Type", "Application/JSON; charset=utf-8"}}), 200);
  EXPECT_EQ(status(json({{"Content-Encoding", "gzip"}})), 415);
  EXPECT_EQ(status(json({{"Accept", "text/html"}})), 406);
  EXPECT_EQ(status(json({{"Accept", "text/html, */*;q=0.1"}})), 200);
  EXPECT_EQ(status(json(), "{"), 400);
  EXPECT_EQ(status(json(), R"({"jsonrpc":"2.0","method":"x"})"), 202);
}

TEST_F(HttpWire, ModernHeadersFitTheBody) {
  start({"--allow-anonymous"});
  const auto call =
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{)"
      R"("name":"state_list","arguments":{},)" +
      kMeta + "}}";
  const auto code = [&](Headers headers) {
    const auto answer = ask("POST", "/mcp", json(std::move(headers)), call);
    const auto body = answer.json();
    EXPECT_EQ(body["id"], 7);
    if (body.contains("result")) return 0;
    EXPECT_EQ(answer.status, 400);
    return body["error"]["code"].get<int>();
  };
  const std::pair<std::string, std::string> version = {"MCP-Protocol-Version",
                                                       "2026-07-28"};
  const std::pair<std::string, std::string> method = {"Mcp-Method",
                                                      "tools/call"};
  EXPECT_EQ(code({version, method, {"Mcp-Name", "state_list"}}), 0);
  EXPECT_EQ(
      code({version, method, {"Mcp-Name", "=?base64?c3RhdGVfbGlzdA==?="}}), 0);
  EXPECT_EQ(code({version, method, {"mcp-name", "  state_list "}}), 0);
  const Headers wrong[] = {
      {method, {"Mcp-Name", "state_list"}},
      {version, {"Mcp-Name", "state_list"}},
      {version, method},
      {version, method, {"Mcp-Name", "state_load"}},
      {version, method, {"Mcp-Name", "=?base64?%%?="}},
      {version, method, {"Mcp-Name", "state_list"}, {"Mcp-Name", "state_list"}},
      {version, {"Mcp-Method", "TOOLS/CALL"}, {"Mcp-Name", "state_list"}},
      {{"MCP-Protocol-Version", "2025-11-25"},
       method,
       {"Mcp-Name", "state_list"}}};
  for (const auto& headers : wrong) {
    EXPECT_EQ(code(headers), -32020) << headers.size();
  }
}

TEST_F(HttpWire, TooMuchIsRefusedAndSaidSo) {
  env_["SATCHEL_MAX_STATE_BYTES"] = "1000";
  start({"--allow-anonymous"});
  const std::uint64_t limit = 8 * 1000 + (1 << 20);
  const auto padded = [](std::size_t size) {
    return kPing + std::string(size - kPing.size(), ' ');
  };
  EXPECT_EQ(status(json(), padded(limit)), 200);
  EXPECT_EQ(status(json(), padded(limit + 1)), 413);
  // Said before the body is sent.
  EXPECT_EQ(
      ask("POST", "/mcp", json({{"Content-Length", "99999999999"}})).status,
      413);
  HttpConnection chunked(port_);
  chunked.send(
      request_text("POST", "/mcp", json({{"Transfer-Encoding", "chunked"}})));
  const std::string chunk = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
  for (int i = 0; i < 20; ++i) chunked.send(chunk);
  const auto answer = chunked.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  EXPECT_EQ(status(json({{"X-Long", std::string(40'000, 'x')}})), 431);
  HttpConnection noise(port_);
  noise.send("\x16\x03\x01 no http\r\n\r\n");
  EXPECT_EQ(noise.read().value_or(HttpAnswer{}).status, 400);
  EXPECT_EQ(post(kPing).status, 200);
}

TEST_F(HttpWire, EndlessChunkExtensionsAndTrailersEndTheConnection) {
  start({"--allow-anonymous"});
  const auto before = process_status(server_->pid(), "VmHWM");
  const std::string filler(std::size_t{1} << 20, 'a');
  for (const char* begin : {"5;x=", "0\r\nX: "}) {
    HttpConnection connection(port_);
    connection.send(
        request_text("POST", "/mcp", json({{"Transfer-Encoding", "chunked"}})) +
        begin);
    bool taken = true;
    for (int i = 0; i < 64 && taken; ++i) taken = connection.send(filler);
    EXPECT_FALSE(taken) << begin;
  }
  EXPECT_LT(process_status(server_->pid(), "VmHWM") - before,
            kAddressSanitizer ? 60'000u : 10'000u);
  EXPECT_EQ(post(kPing).status, 200);
}

TEST_F(HttpWire, TheStateWireRefusesInItsOwnForm) {
  start({"--allow-anonymous"});
  const auto large =
      ask("POST", "/v1/state/set", json({{"Content-Length", "99999999"}}));
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.json()["code"], "VALUE_TOO_LARGE");
  EXPECT_EQ(large.json()["valueBytes"], 99'999'999);
  const auto method = ask("GET", "/v1/state/set");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.json()["code"], "INVALID_ARGUMENT");
}

TEST_F(HttpWire, ChunkedBodiesAndExpectAreServed) {
  start({"--allow-anonymous"});
  HttpConnection connection(port_);
  connection.send(request_text(
      "POST", "/mcp",
      json({{"Transfer-Encoding", "chunked"}, {"Expect", "100-continue"}})));
  const auto go = connection.read();
  ASSERT_TRUE(go);
  EXPECT_EQ(go->status, 100);
  const auto half = kPing.size() / 2;
  for (const auto& part : {kPing.substr(0, half), kPing.substr(half)}) {
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", part.size());
    connection.send(size + part + "\r\n");
  }
  connection.send("0\r\n\r\n");
  const auto answer = connection.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

TEST_F(HttpWire, RequestsInARowOnOneConnection) {
  start({"--allow-anonymous"});
  HttpConnection connection(port_);
  std::string all;
  for (int i = 0; i < 50; ++i) {
    all += request_text("POST", "/mcp", json(),
                        R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
                            R"(,"method":"ping"})");
  }
  connection.send(all);
  for (int i = 0; i < 50; ++i) {
    const auto answer = connection.read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->json()["id"], i);
  }
}

TEST_F(HttpWire, FiveThousandIdleConnectionsAreHeldWhileCallsAreAnswered) {
  // The server keeps 512 descriptors for other things, and the calls below
  // need connections too.
  const rlim_t others = 600;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto most = std::min(limit.rlim_max, rlim_t{5'000} + others);
  ASSERT_GT(most, others);
  limit.rlim_cur = std::max(limit.rlim_cur, most);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const std::size_t count = most - others;
  if (count < 5'000) std::cout << "only " << count << " connections\n";

  start({"--allow-anonymous"});
  const int server = server_->pid();
  ASSERT_EQ(post(kPing).status, 200);
  const auto before = process_status(server, "VmRSS");
  const auto text = request_text("POST", "/mcp", json(), kPing);
  std::vector<std::unique_ptr<HttpConnection>> idle;
  const auto answered = [&](std::size_t i) {
    return idle[i]->read().value_or(HttpAnswer{}).status == 200;
  };
  for (std::size_t i = 0; i < count; ++i) {
    idle.push_back(std::make_unique<HttpConnection>(port_));
    // Half of them have been in use.
    if (i % 2 == 0) continue;
    idle[i]->send(text);
    ASSERT_TRUE(answered(i)) << i;
  }
  for (int i = 0; i < 50; ++i) {
    const auto made =
        call("state_save", {{"kind", "k"}, {"state", {{"i", i}}}});
    EXPECT_TRUE(made.value("ok", false)) << made;
  }
  EXPECT_GE(descriptors(), count);
  EXPECT_LT(process_status(server, "Threads"), 100u);
  const auto grown = process_status(server, "VmRSS") - before;
  if (!kAddressSanitizer) {
    EXPECT_LT(grown, 16 * count);
  }
  for (const auto& connection : idle) EXPECT_TRUE(connection->send(text));
  for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(answered(i)) << i;
  EXPECT_LT(process_status(server, "Threads"), 100u);
  idle.clear();
  EXPECT_EQ(stop().exit_code, 0);
}

TEST_F(HttpWire, OverTheLimitOfConnectionsIsTurnedAway) {
  start({"--allow-anonymous", "--max-connections", "2"});
  HttpConnection first(port_);
  HttpConnection second(port_);
  HttpConnection third(port_);
  const auto answer = third.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  first.send(request_text("POST", "/mcp", json(), kPing));
  EXPECT_EQ(first.read()->status, 200);
}

TEST_F(HttpWire, DescriptorsStayFlat) {
  start({"--allow-anonymous"});
  for (int i = 0; i < 20; ++i) post(kPing);
  HttpConnection settle(port_);
  const auto before = descriptors();
  for (int i = 0; i < 500; ++i) {
    post(i % 3 ? kPing : "{");
    if (i % 5 == 0) HttpConnection cut(port_);
  }
  EXPECT_EQ(post(kPing).status, 200);
  EXPECT_LE(descriptors(), before + 5);
}

}  // namespace
}  // namespace satchel::test
