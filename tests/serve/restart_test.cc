// A restart between any two calls changes no answer.

#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <regex>

#include "satchel/patch.h"
#include "tests/support/http_client.h"

namespace satchel::test {
namespace {

const std::string kToken = "secret";
const std::string kPrefix = "io.modelcontextprotocol/";
const std::string kModern = "2026-07-28";

/// What differs between two runs of the same calls. Each gets a name by the
/// order in which it is first seen, so that what is equal in one run must be
/// equal in the other.
class Names {
 public:
  std::string in(const std::string& text) {
    static const std::regex pattern(
        "([0-9a-f]{60,})"                               // a cursor
        "|([a-z]+_[a-z2-7]{8})"                         // a handle
        "|([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{15}Z)");  // a time
    std::string out;
    auto rest = text.begin();
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end;
         it != end; ++it) {
      const auto& match = *it;
      const char* what = match[1].matched   ? "cursor"
                         : match[2].matched ? "handle"
                                            : "time";
      out.append(rest, match[0].first).append(name_of(what, match.str()));
      rest = match[0].second;
    }
    return out.append(rest, text.end());
  }

 private:
  std::string name_of(const std::string& what, const std::string& text) {
    const auto [place, fresh] = names_.try_emplace(text);
    if (fresh) place->second = what + ' ' + std::to_string(++count_[what]);
    return '<' + place->second + '>';
  }

  std::map<std::string, std::string> names_;
  std::map<std::string, int> count_;
};

/// How calls reach the server.
struct Wire {
  /// The answer to a message.
  std::function<std::string(const Json&)> mcp;
  /// Status and body of an operation; none where there is no state wire.
  std::function<std::string(const std::string&, const Json&)> kv{};
};

/// Sends the same calls every time, in one era and the other by turns.
class Script {
 public:
  Script(Wire wire, bool modern) : wire_(std::move(wire)), modern_(modern) {}

  /// Every answer, with names.
  std::vector<std::string> run() {
    greet();
    create();
    write();
    repeat();
    read();
    end();
    if (wire_.kv) keys();
    return answers_;
  }

 private:
  void greet() {
    if (modern_) {
      ask("server/discover");
    } else {
      ask("initialize", {{"protocolVersion", "2025-11-25"},
                         {"capabilities", Json::object()},
                         {"clientInfo", {{"name", "c"}, {"version", "1"}}}});
    }
    ask("tools/list");
    ask("prompts/get", {{"name", "resume"}});
  }

  void create() {
    const Json log = {{"log", Json::array()}, {"n", 0}};
    first_ = made({{"kind", "note"}, {"state", log}, {"ttl_days", 1}});
    const auto second =
        good("state_save", {{"kind", "note"}, {"state", {{"b", 2}}}});
    EXPECT_NE(second.value("note", "").find("already had"), std::string::npos);
    second_ = second.value("handle", "");
    good("state_save",
         {{"kind", "plan"}, {"state", {{"c", 3}}}, {"persist", true}});
  }

  void write() {
    const Json update = {{"handle", first_},
                         {"state", {{"log", {1}}, {"n", 1}}},
                         {"expect_version", 1},
                         {"return_state", true}};
    good("state_save", update);
    EXPECT_EQ(bad("state_save", update), "stale_write");
    const auto patched = good(
        "state_patch", {{"handle", first_}, {"ops", {op::append("log", 2)}}});
    EXPECT_EQ(patched["state"]["log"], Json({1, 2}));
    good("state_touch", {{"handle", first_}, {"ttl_days", 2}});
  }

  /// What a client does that has not seen an answer.
  void repeat() {
    Json patch = {{"handle", first_},
                  {"ops", {op::increment("", "n", 5)}},
                  {"request_id", "patch"}};
    EXPECT_EQ(good("state_patch", patch), good("state_patch", patch));
    patch["ops"] = {op::increment("", "n", 6)};
    EXPECT_EQ(bad("state_patch", patch), "request_conflict");
    const Json save = {
        {"kind", "twice"}, {"state", Json::object()}, {"request_id", "save"}};
    EXPECT_EQ(made(save), made(save));
  }

  void read() {
    const Json page = good("state_list", {{"limit", 2}});
    good("state_list", {{"limit", 2}, {"cursor", page.value("cursor", "")}});
    const auto loaded = good("state_load", {{"handle", first_}});
    EXPECT_EQ(loaded["state"], Json({{"log", {1, 2}}, {"n", 6}}));
    good("state_load", {{"handle", first_}, {"version", 2}, {"path", "/log"}});
    const auto changes =
        good("state_changes", {{"handle", first_}, {"since_version", 2}});
    EXPECT_EQ(changes["changes"].size(), 3u);
    ask("resources/list");
    ask("resources/read", {{"uri", "state://" + first_}});
    EXPECT_EQ(bad("state_load", {{"handle", first_}, {"nme", 1}}),
              "invalid_input");
    ask("tools/call", {{"name", "state_lod"}});
  }

  void end() {
    const Json arguments = {{"handle", second_}};
    good("state_delete", arguments);
    EXPECT_EQ(bad("state_load", arguments), "handle_not_found");
    EXPECT_EQ(bad("state_delete", arguments), "handle_not_found");
    ask("resources/read", {{"uri", "state://" + second_}});
    const Json brief = {{"handle", made({{"kind", "brief"},
                                         {"state", Json::object()},
                                         {"ttl_days", 2e-8}})}};
    const Json load = {{"name", "state_load"}, {"arguments", brief}};
    until("handle_expired", [&] { return send("tools/call", load); });
    EXPECT_EQ(bad("state_load", brief), "handle_expired");
    good("state_list", {{"include_expired", true}});
  }

  void keys() {
    kv("set", {{"key", "a"}, {"value", {1, "x"}}, {"ttl", 600}});
    EXPECT_EQ(kv("get", {{"key", "a"}}), R"(200 {"result":[1,"x"]})");
    kv("increment", {{"key", "n"}, {"by", 2}, {"ttl", 600}});
    kv("decrement", {{"key", "n"}, {"ttl", 600}});
    EXPECT_EQ(kv("keys", {{"limit", 1}}),
              R"(200 {"result":{"keys":["a"],"cursor":"a"}})");
    kv("keys", {{"limit", 1}, {"cursor", "a"}});
    kv("increment", {{"key", "a"}, {"ttl", 600}});
    kv("set", {{"key", "brief"}, {"value", 1}, {"ttl", 0.001}});
    until("200 {}", [&] { return wire_.kv("get", {{"key", "brief"}}); });
    EXPECT_EQ(kv("get", {{"key", "brief"}}), "200 {}");
    kv("mget", {{"keys", {"a", "brief", "n"}}});
    kv("delete", {{"key", "a"}});
    EXPECT_EQ(kv("has", {{"key", "a"}}), R"(200 {"result":false})");
    kv("scope", Json::object());
  }

  std::string send(const std::string& method, Json params) {
    if (modern_) {
      params["_meta"] = {{kPrefix + "protocolVersion", kModern},
                         {kPrefix + "clientCapabilities", Json::object()}};
    }
    return wire_.mcp({{"jsonrpc", "2.0"},
                      {"id", answers_.size()},
                      {"method", method},
                      {"params", params}});
  }

  Json ask(const std::string& method, const Json& params = Json::object()) {
    const auto answer = send(method, params);
    answers_.push_back(method + ' ' + params.value("name", "") + ": " +
                       names_.in(answer));
    modern_ = !modern_;
    const Json json = Json::parse(answer, nullptr, false);
    EXPECT_TRUE(json.is_object()) << answer;
    return json.is_object() ? json : Json::object();
  }

  Json call(const std::string& tool, const Json& arguments, bool ok) {
    Json object = ask("tools/call", {{"name", tool}, {"arguments", arguments}})
                      .value("result", Json::object())
                      .value("structuredContent", Json::object());
    EXPECT_EQ(object.value("ok", !ok), ok) << object;
    return object;
  }
  Json good(const std::string& tool, const Json& arguments) {
    return call(tool, arguments, true);
  }
  /// The handle of a new state.
  std::string made(const Json& arguments) {
    return good("state_save", arguments).value("handle", "");
  }
  /// The code of the refusal.
  std::string bad(const std::string& tool, const Json& arguments) {
    return call(tool, arguments, false)
        .value("error", Json::object())
        .value("code", "");
  }

  /// What is asked before time has done its work is not part of the run.
  template <class Ask>
  static void until(const std::string& expected, Ask ask) {
    for (int tries = 0; tries < 10'000; ++tries) {
      if (ask().find(expected) != std::string::npos) return;
    }
    ADD_FAILURE() << "never " << expected;
  }

  std::string kv(const std::string& op, const Json& args) {
    const auto answer = wire_.kv(op, args);
    answers_.push_back("kv " + op + ": " + answer);
    return answer;
  }

  const Wire wire_;
  /// The era of the next call.
  bool modern_;
  std::string first_, second_;
  Names names_;
  std::vector<std::string> answers_;
};

class RestartTest : public HttpTest {
 protected:
  /// The answers of a server on a store of its own that ends by `signal` before
  /// each call; 0: never.
  std::vector<std::string> over_http(int signal, bool modern) {
    new_store();
    const Words options = {
        "--tokens",
        tokens_file({{{"token", kToken}, {"user", "alice"}, {"app", "app"}}})};
    start(options);
    const auto restart = [&] {
      if (signal == 0) return;
      EXPECT_EQ(stop(signal).exit_code, signal == SIGTERM ? 0 : 128 + signal);
      start(options);
    };
    Wire wire;
    wire.mcp = [&](const Json& message) {
      restart();
      return post(message.dump(), kToken, headers_of(message)).body;
    };
    wire.kv = [&](const std::string& op, const Json& args) {
      restart();
      const auto answer = kv(op, args, "alice", "app", kToken);
      return std::to_string(answer.status) + ' ' + answer.body;
    };
    auto answers = Script(wire, modern).run();
    EXPECT_EQ(stop().exit_code, 0);
    return answers;
  }

  /// The same over pipes, where it ends after each call; by 0: with its input.
  std::vector<std::string> over_pipes(std::optional<int> signal, bool modern) {
    new_store();
    Command command;
    command.argv = {satchel_binary(), "serve"};
    command.input = "";
    command.env = env_;
    std::unique_ptr<Process> server;
    Wire wire;
    wire.mcp = [&](const Json& message) {
      if (!server) server = std::make_unique<Process>(command);
      EXPECT_TRUE(server->write(message.dump() + '\n'));
      auto answer = server->read_line().value_or("");
      if (signal) {
        if (*signal) server->kill(*signal);
        EXPECT_EQ(server->wait().exit_code, *signal ? 128 + *signal : 0);
        server.reset();
      }
      return answer;
    };
    return Script(wire, modern).run();
  }

  static void expect_equal(const std::vector<std::string>& one,
                           const std::vector<std::string>& other) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i], other[i]);
  }

 private:
  void new_store() {
    env_["SATCHEL_STORE"] = path("store-" + std::to_string(++stores_));
  }
  static Headers headers_of(const Json& message) {
    const Json& params = message["params"];
    if (!params.contains("_meta")) return {};
    const std::string name = params.value("name", params.value("uri", ""));
    Headers headers = {{"MCP-Protocol-Version", kModern},
                       {"Mcp-Method", message["method"]}};
    if (!name.empty()) headers.emplace_back("Mcp-Name", name);
    return headers;
  }

  int stores_ = 0;
};

TEST_F(RestartTest, BySigtermChangesNoAnswerOverHttp) {
  const auto without = over_http(0, false);
  EXPECT_GE(without.size(), 44u);
  expect_equal(without, over_http(SIGTERM, false));
}

TEST_F(RestartTest, BySigkillChangesNoAnswerOverHttp) {
  expect_equal(over_http(0, true), over_http(SIGKILL, true));
}

TEST_F(RestartTest, AtTheEndOfInputChangesNoAnswerOnStdio) {
  expect_equal(over_pipes(std::nullopt, true), over_pipes(0, true));
}

TEST_F(RestartTest, BySigkillChangesNoAnswerOnStdio) {
  expect_equal(over_pipes(std::nullopt, false), over_pipes(SIGKILL, false));
}

}  // namespace
}  // namespace satchel::test
