#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "tools/serve/digest.h"

namespace satchel::test {

Json HttpAnswer::json() const { return Json::parse(body, nullptr, false); }

HttpConnection::HttpConnection(int port)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd_ < 0 || ::connect(fd_, reinterpret_cast<sockaddr*>(&address),
                           sizeof address) != 0) {
    throw std::runtime_error("cannot connect");
  }
}

HttpConnection::~HttpConnection() { ::close(fd_); }

bool HttpConnection::send(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto n =
        ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

bool HttpConnection::more(int ms) {
  pollfd wait{fd_, POLLIN, 0};
  if (::poll(&wait, 1, ms) <= 0) return false;
  char buffer[65536];
  const auto n = ::recv(fd_, buffer, sizeof buffer, 0);
  if (n <= 0) return false;
  text_.append(buffer, static_cast<std::size_t>(n));
  return true;
}

bool HttpConnection::ended(int ms) {
  pollfd wait{fd_, POLLIN, 0};
  char byte;
  return ::poll(&wait, 1, ms) > 0 && ::recv(fd_, &byte, 1, MSG_PEEK) <= 0;
}

std::optional<HttpAnswer> HttpConnection::read(bool has_body) {
  std::size_t end;
  while ((end = text_.find("\r\n\r\n")) == text_.npos) {
    if (!more(10'000)) return {};
  }
  HttpAnswer answer;
  answer.status = std::atoi(text_.c_str() + 9);
  std::size_t line = text_.find("\r\n") + 2;
  while (line < end + 2) {
    const auto stop = text_.find("\r\n", line);
    const auto colon = text_.find(": ", line);
    auto name = text_.substr(line, colon - line);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    answer.headers[name] = text_.substr(colon + 2, stop - colon - 2);
    line = stop + 2;
  }
  text_.erase(0, end + 4);
  const auto length = answer.headers.find("content-length");
  const std::size_t size = !has_body || length == answer.headers.end()
                               ? 0
                               : std::stoul(length->second);
  while (text_.size() < size) {
    if (!more(10'000)) return {};
  }
  answer.body = text_.substr(0, size);
  text_.erase(0, size);
  return answer;
}

std::string request_text(const std::string& method, const std::string& target,
                         const Headers& headers, const std::string& body) {
  std::string text = method + ' ' + target + " HTTP/1.1\r\n";
  bool host = false;
  for (const auto& [name, value] : headers) {
    text += name + ": " + value + "\r\n";
    host = host || name == "Host";
  }
  if (!host) text += "Host: 127.0.0.1\r\n";
  if (!body.empty()) {
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return text + "\r\n" + body;
}

std::uint64_t process_status(int pid, const std::string& name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ':')) {
      return std::stoull(line.substr(name.size() + 1));
    }
  }
  return 0;
}

HttpTest::~HttpTest() = default;

void HttpTest::start(const Words& options) {
  Command command;
  // Its stderr is what we read: nothing else may come on stdout.
  command.argv = {"/bin/sh",        "-c",    "exec \"$@\" 2>&1", "sh",
                  satchel_binary(), "serve", "--transport",      "http",
                  "--port",         "0"};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  command.env = env_;
  command.directory = root_;
  command.timeout = server_time_;
  server_ = std::make_unique<Process>(command);
  std::string said;
  while (const auto line = server_->read_line()) {
    said += *line + '\n';
    const auto at = line->find("://");
    if (at == line->npos || line->find("listening") == line->npos) continue;
    url_ = line->substr(line->rfind(' ', at) + 1);
    port_ = std::atoi(url_.c_str() + url_.rfind(':') + 1);
    return;
  }
  FAIL() << "the server did not start: " << said;
}

Finished HttpTest::stop(int number) {
  server_->kill(number);
  return server_->wait();
}

void HttpTest::signal(int number) { server_->kill(number); }

HttpAnswer HttpTest::ask(const std::string& method, const std::string& target,
                         const Headers& headers, const std::string& body) {
  HttpConnection connection(port_);
  connection.send(request_text(method, target, headers, body));
  return connection.read(method != "HEAD").value_or(HttpAnswer{});
}

HttpAnswer HttpTest::post(const std::string& body, const std::string& token,
                          Headers headers) {
  headers.emplace_back("Content-Type", "application/json");
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
  return ask("POST", "/mcp", headers, body);
}

Json HttpTest::call(const std::string& tool, const Json& arguments,
                    const std::string& token) {
  const Json request = {{"jsonrpc", "2.0"},
                        {"id", 1},
                        {"method", "tools/call"},
                        {"params", {{"name", tool}, {"arguments", arguments}}}};
  const auto answer = post(request.dump(), token);
  EXPECT_EQ(answer.status, 200) << answer.body;
  const auto json = answer.json();
  return json.is_object() && json.contains("result")
             ? json["result"].value("structuredContent", Json::object())
             : Json::object();
}

HttpAnswer HttpTest::kv(const std::string& op, const Json& args,
                        const std::string& user, const std::string& app,
                        const std::string& token) {
  const Json body = {{"context", {{"userId", user}, {"mcpId", app}}},
                     {"args", args}};
  Headers headers = {{"Content-Type", "application/json"}};
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
  return ask("POST", "/v1/state/" + op, headers, body.dump());
}

std::string HttpTest::tokens_file(const std::vector<Json>& entries) {
  Json file = {{"tokens", Json::array()}};
  for (Json entry : entries) {
    entry["sha256"] = tools::serve::hex(
        tools::serve::sha256(entry["token"].get<std::string>()));
    entry.erase("token");
    file["tokens"].push_back(entry);
  }
  write_file("tokens.json", file.dump());
  ::chmod(path("tokens.json").c_str(), 0600);
  return path("tokens.json");
}

}  // namespace satchel::test
