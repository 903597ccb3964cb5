// Many clients and many calls: nothing is lost, nothing grows.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "satchel/patch.h"
#include "tests/support/http_client.h"

namespace satchel::test {
namespace {

namespace fs = std::filesystem;

const std::string kToken = "secret";
const std::string kPrefix = "io.modelcontextprotocol/";
const std::string kModern = "2026-07-28";

/// What a server holds.
struct Footprint {
  std::uint64_t resident_kib = 0;
  std::size_t sockets = 0;
  /// Of the store: those it has, and those it has removed.
  std::size_t files = 0;
  std::size_t removed_files = 0;
  /// Other descriptors.
  std::size_t others = 0;
};

Footprint footprint(int pid, const std::string& store) {
  Footprint held;
  held.resident_kib = process_status(pid, "VmRSS");
  const auto folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code closed;
    const auto target = fs::read_symlink(entry.path(), closed).string();
    if (closed) continue;
    if (target.starts_with("socket:")) {
      ++held.sockets;
    } else if (!target.starts_with(store)) {
      ++held.others;
    } else {
      ++(target.ends_with(" (deleted)") ? held.removed_files : held.files);
    }
  }
  return held;
}

void expect_flat(const Footprint& before, const Footprint& after) {
  EXPECT_EQ(after.others, before.others);
  EXPECT_EQ(after.sockets, before.sockets);
  // How many tables there are is up to compactions, which begin at four in each
  // of the seven families.
  EXPECT_LE(after.files, 64u);
  EXPECT_EQ(after.removed_files, 0u);
  if (kAddressSanitizer) return;
  // The engine keeps up to 48 MiB of flushed memtables to check conflicts by,
  // which the small records of a soak do not fill.
  EXPECT_LE(after.resident_kib, before.resident_kib + 48 * 1024);
}

Json message(bool modern, const std::string& method, Json params) {
  if (modern) {
    params["_meta"] = {{kPrefix + "protocolVersion", kModern},
                       {kPrefix + "clientCapabilities", Json::object()}};
  }
  return {
      {"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
}

Json tool(const std::string& name, const Json& arguments) {
  return {{"name", name}, {"arguments", arguments}};
}

Json new_state(int number) {
  return {{"kind", "soak"},
          {"state",
           {{"text", std::string(8'000, 'x')},
            {"n", number},
            {"log", Json::array()}}},
          {"ttl_days", 1}};
}

/// A change that counts.
Json patch_of(const std::string& handle, const std::string& list, int value) {
  return {{"handle", handle},
          {"ops", {op::increment("", "n", 1), op::append(list, value)}},
          {"return_state", false}};
}

/// The first handle in an answer.
std::string handle_in(const std::string& answer) {
  const std::string label = R"("handle":")";
  const auto at = answer.find(label);
  if (at == answer.npos) return {};
  const auto begin = at + label.size();
  return answer.substr(begin, answer.find('"', begin) - begin);
}

/// One connection that is kept, and one request at a time in one era and the
/// other by turns.
class Client {
 public:
  /// Counts its requests in `asked`.
  Client(int port, std::atomic<int>& asked)
      : port_(port), asked_(asked), connection_(port) {}

  /// A state from its creation to its end, a few keys, and what bad clients
  /// send.
  void live(int number) {
    const auto made = new_state(number);
    const auto handle = handle_in(call("state_save", made, R"("version":1)"));
    const Json of = {{"handle", handle}};
    call("state_load", of, R"("version":1)");
    call("state_list", {{"limit", 5}}, R"("version")");
    patch(handle, number);
    call("state_load", {{"handle", handle}, {"path", "log"}}, "[7]");
    const Json save = {
        {"handle", handle}, {"state", made["state"]}, {"expect_version", 2}};
    call("state_save", save, R"("version":3)");
    call("state_save", save, "stale_write");
    call("state_touch", {{"handle", handle}, {"persist", true}}, "null");
    call("state_changes", {{"handle", handle}, {"since_version", 3}}, "touch");
    mcp("resources/list", Json::object(), "state://");
    mcp("resources/read", {{"uri", "state://" + handle}}, handle);
    mcp("tools/list", Json::object(), "state_save");
    call("state_load", {{"handel", handle}}, "invalid_input");
    mcp("tools/call", {{"name", "state_lod"}}, "-32602");
    keys(number);
    offend(number);
    call("state_delete", of, R"("ok":true)");
    call("state_load", of, "handle_not_found");
  }

  std::string call(const std::string& name, const Json& arguments,
                   const std::string& expected) {
    return mcp("tools/call", tool(name, arguments), expected);
  }
  std::string mcp(const std::string& method, const Json& params,
                  const std::string& expected) {
    Headers headers = authorized();
    modern_ = !modern_ && method != "ping";
    if (modern_) {
      const std::string name = params.value("name", params.value("uri", ""));
      headers.emplace_back("MCP-Protocol-Version", kModern);
      headers.emplace_back("Mcp-Method", method);
      if (!name.empty()) headers.emplace_back("Mcp-Name", name);
    }
    return ask("/mcp", headers, message(modern_, method, params).dump(), 200,
               expected);
  }
  bool failed() const { return failed_; }

 private:
  void patch(const std::string& handle, int number) {
    Json patch = patch_of(handle, "log", 7);
    // A user's ids are remembered for a day, and there may be 10,000.
    if (number % 10 == 0) {
      patch["request_id"] = std::to_string(number);
      call("state_patch", patch, R"("version":2)");
    }
    call("state_patch", patch, R"("version":2)");
  }

  void keys(int number) {
    const auto key = "key" + std::to_string(number);
    const auto count = "count" + std::to_string(number);
    kv("set", {{"key", key}, {"value", {1, "x"}}, {"ttl", 0.5}}, 200, "{}");
    kv("increment", {{"key", count}, {"by", 2}, {"ttl", 0.5}}, 200, "2");
    kv("increment", {{"key", "all"}, {"ttl", 600}}, 200, "result");
    kv("keys", {{"limit", 5}}, 200, "all");
    kv("increment", {{"key", "all"}, {"by", 0.5}, {"ttl", 1}}, 400,
       "INVALID_ARGUMENT");
    if (number % 2 == 0) kv("delete", {{"key", key}}, 200, "{}");
  }

  void offend(int number) {
    const auto ping = message(false, "ping", Json::object()).dump();
    const Headers json = {{"Content-Type", "application/json"}};
    const auto with = [&](const std::string& name, const std::string& value) {
      Headers headers = json;
      headers.emplace_back(name, value);
      return headers;
    };
    ask("/mcp", authorized(), "{\"a\":", 400, "-32700");
    ask("/mcp", with("Authorization", "Bearer x"), ping, 401, "not known");
    ask("/mcp", json, ping, 401, "bearer token");
    if (number % 8 != 0) return;
    HttpConnection foreign(port_);
    foreign.send(
        request_text("POST", "/mcp", with("Host", "evil.example"), ping));
    EXPECT_EQ(foreign.read().value_or(HttpAnswer{}).status, 403);
    HttpConnection cut(port_);
    cut.send(request_text("POST", "/mcp", with("Content-Length", "99")));
  }

  static Headers authorized() {
    return {{"Content-Type", "application/json"},
            {"Authorization", "Bearer " + kToken}};
  }

  void kv(const std::string& op, const Json& args, int status,
          const std::string& expected) {
    const Json body = {{"context", {{"userId", "alice"}, {"mcpId", "app"}}},
                       {"args", args}};
    ask("/v1/state/" + op, authorized(), body.dump(), status, expected);
  }

  /// The body of the answer, which must have the status and hold `expected`.
  /// After a failure nothing more is sent.
  std::string ask(const std::string& target, const Headers& headers,
                  const std::string& body, int status,
                  const std::string& expected) {
    if (failed_) return {};
    connection_.send(request_text("POST", target, headers, body));
    const auto answer = connection_.read().value_or(HttpAnswer{});
    failed_ = answer.status != status ||
              answer.body.find(expected) == std::string::npos;
    EXPECT_FALSE(failed_) << body << '\n' << answer.status << answer.body;
    ++asked_;
    return answer.body;
  }

  const int port_;
  std::atomic<int>& asked_;
  HttpConnection connection_;
  bool modern_ = false;
  bool failed_ = false;
};

class SoakOverHttp : public HttpTest {
 protected:
  void start_with(int clients) {
    server_time_ = std::chrono::minutes(5);
    start({"--tokens",
           tokens_file(
               {{{"token", kToken}, {"user", "alice"}, {"app", "app"}}})});
    for (int i = 0; i < clients; ++i) {
      clients_.push_back(std::make_unique<Client>(port_, asked_));
    }
  }

  /// work(client, its number) for all of them at once.
  template <class Work>
  void each(Work work) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      threads.emplace_back([&, i] { work(*clients_[i], i); });
    }
    for (auto& thread : threads) thread.join();
  }

  void soak_until(int requests) {
    each([&](Client& client, std::size_t) {
      while (asked_ < requests && !client.failed()) client.live(++lives_);
    });
  }

  /// As soon as the server has noticed which connections ended, and no
  /// compaction is about to close what it has removed.
  Footprint settled() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(9);
    for (;;) {
      clients_[0]->mcp("ping", Json::object(), "result");
      const auto held = footprint(server_->pid(), store());
      const bool over = std::chrono::steady_clock::now() > end;
      const bool done =
          held.sockets == clients_.size() + 1 && held.removed_files == 0;
      if (done || over) return held;
    }
  }

  std::vector<std::unique_ptr<Client>> clients_;
  std::atomic<int> asked_ = 0;
  std::atomic<int> lives_ = 0;
};

TEST_F(SoakOverHttp, SixteenClientsPatchOneHandleAndLoseNothing) {
  const std::size_t count = 16;
  const int patches = 50;
  start_with(count);
  Json state = {{"n", 0}};
  for (std::size_t i = 0; i < count; ++i) {
    state[std::to_string(i)] = Json::array();
  }
  const auto handle =
      call("state_save", {{"kind", "shared"}, {"state", state}}, kToken)
          .value("handle", "");
  std::vector<std::vector<int>> acknowledged(count);
  std::vector<std::vector<std::uint64_t>> versions(count);
  each([&](Client& client, std::size_t i) {
    for (int n = 0; n < patches; ++n) {
      const auto answer = client.call(
          "state_patch", patch_of(handle, std::to_string(i), n), "result");
      const auto object = Json::parse(answer)["result"]["structuredContent"];
      if (!object.value("ok", false)) continue;
      acknowledged[i].push_back(n);
      versions[i].push_back(object.value("version", 0u));
    }
  });
  const auto loaded = call("state_load", {{"handle", handle}}, kToken);
  std::size_t all = 0;
  std::set<std::uint64_t> different;
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(loaded["state"][std::to_string(i)], Json(acknowledged[i]));
    EXPECT_TRUE(std::is_sorted(versions[i].begin(), versions[i].end()));
    all += acknowledged[i].size();
    different.insert(versions[i].begin(), versions[i].end());
  }
  EXPECT_GE(all, count * patches * 9 / 10);
  EXPECT_EQ(loaded["state"]["n"], all);
  EXPECT_EQ(loaded["version"], all + 1);
  EXPECT_EQ(different.size(), all);
  EXPECT_EQ(*different.rbegin(), all + 1);
}

TEST_F(SoakOverHttp, MemoryAndDescriptorsStayFlat) {
  const int requests = kAddressSanitizer ? 20'000 : 200'000;
  start_with(8);
  soak_until(requests / 4);
  const auto before = settled();
  EXPECT_EQ(before.sockets, clients_.size() + 1);
  soak_until(requests);
  EXPECT_GE(asked_, requests);
  const auto after = settled();
  expect_flat(before, after);
  std::cout << asked_ << " requests: " << before.resident_kib << " to "
            << after.resident_kib << " KiB\n";
  EXPECT_EQ(call("state_list", Json::object(), kToken)["handles"].size(), 0u);
  clients_.clear();
  EXPECT_EQ(stop().exit_code, 0);
}

class SoakOnStdio : public ProgramTest {
 protected:
  SoakOnStdio() {
    Command command;
    command.argv = {satchel_binary(), "serve"};
    command.input = "";
    command.env = env_;
    command.timeout = std::chrono::minutes(5);
    server_ = std::make_unique<Process>(command);
  }

  struct Request {
    std::string method;
    Json params;
    /// What the answer must hold.
    std::string expected;
  };
  static Request call(const std::string& name, const Json& arguments,
                      const std::string& expected) {
    return {"tools/call", tool(name, arguments), expected};
  }

  /// Sends all at once; the answers in the same order.
  std::vector<std::string> ask(const std::vector<Request>& requests) {
    std::string lines;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      auto request =
          message(i % 2 == 0, requests[i].method, requests[i].params);
      request["id"] = i;
      lines += request.dump() + '\n';
    }
    EXPECT_TRUE(server_->write(lines));
    std::vector<std::string> answers(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto line = server_->read_line().value_or("{}");
      const auto id = Json::parse(line).value("id", requests.size());
      if (id < answers.size()) answers[id] = line;
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_NE(answers[i].find(requests[i].expected), std::string::npos)
          << requests[i].params << answers[i];
    }
    asked_ += static_cast<int>(requests.size());
    return answers;
  }

  /// Some states from their creation to their end, and lines that are nothing.
  void live() {
    const std::vector<Request> saves(
        16, call("state_save", new_state(1), R"("version":1)"));
    std::vector<Request> uses, ends;
    for (const auto& answer : ask(saves)) {
      const auto handle = handle_in(answer);
      const Json of = {{"handle", handle}};
      uses.push_back(call("state_load", of, R"("state")"));
      uses.push_back(
          call("state_patch", patch_of(handle, "log", 7), R"("version")"));
      uses.push_back(call("state_touch",
                          {{"handle", handle}, {"persist", true}},
                          R"("version")"));
      uses.push_back(call("state_list", {{"limit", 5}}, R"("handles")"));
      uses.push_back(call("state_save",
                          {{"handle", handle},
                           {"state", Json::object()},
                           {"expect_version", 100}},
                          "error"));
      uses.push_back(call("state_changes",
                          {{"handle", handle}, {"since_version", 1}}, "since"));
      uses.push_back({"resources/list", Json::object(), "state://"});
      uses.push_back(
          {"resources/read", {{"uri", "state://" + handle}}, handle});
      uses.push_back({"tools/list", Json::object(), "state_save"});
      uses.push_back({"tools/call", {{"name", "state_lod"}}, "-32602"});
      ends.push_back(call("state_delete", of, R"("ok":true)"));
    }
    ask(uses);
    ask(ends);
    EXPECT_TRUE(server_->write("{\"a\":\n"));
    EXPECT_NE(server_->read_line().value_or("").find("-32700"),
              std::string::npos);
  }

  void soak_until(int requests) {
    while (asked_ < requests && !HasFailure()) live();
  }

  Footprint settled() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(9);
    for (;;) {
      ask({{"tools/list", Json::object(), "result"}});
      const auto held = footprint(server_->pid(), store());
      const bool over = std::chrono::steady_clock::now() > end;
      if (held.removed_files == 0 || over) return held;
    }
  }

  std::unique_ptr<Process> server_;
  int asked_ = 0;
};

TEST_F(SoakOnStdio, MemoryAndDescriptorsStayFlat) {
  const int requests = kAddressSanitizer ? 4'000 : 100'000;
  soak_until(requests / 4);
  const auto before = settled();
  soak_until(requests);
  const auto after = settled();
  EXPECT_GE(asked_, requests);
  expect_flat(before, after);
  std::cout << asked_ << " requests: " << before.resident_kib << " to "
            << after.resident_kib << " KiB\n";
  server_->close_input();
  EXPECT_EQ(server_->wait().exit_code, 0);
}

}  // namespace
}  // namespace satchel::test
