#pragma once
// A plain HTTP/1.1 client for tests, and the program as an HTTP server.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace satchel::test {

/// What AddressSanitizer keeps of freed memory and puts around the rest says
/// nothing about the program's memory; and it is slow.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

struct HttpAnswer {
  int status = 0;
  /// Names in lower case.
  std::map<std::string, std::string> headers;
  std::string body;

  /// The body as JSON; null when it is none.
  Json json() const;
};

/// One connection to this machine. Throws std::runtime_error when it cannot be
/// made.
class HttpConnection {
 public:
  explicit HttpConnection(int port);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// False when the peer does not take it.
  bool send(const std::string& bytes);
  /// The next answer; none when the connection ends or nothing comes for ten
  /// seconds.
  std::optional<HttpAnswer> read(bool has_body = true);
  /// Whether the peer has ended it, waiting up to `ms`.
  bool ended(int ms);

 private:
  bool more(int ms);
  int fd_ = -1;
  std::string text_;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

/// A request as text; Host is added unless it is given, Content-Length with a
/// body.
std::string request_text(const std::string& method, const std::string& target,
                         const Headers& headers, const std::string& body = "");

/// A number in /proc/PID/status: "VmRSS" (KiB), "Threads"; 0 when it has none.
std::uint64_t process_status(int pid, const std::string& name);

class HttpTest : public ProgramTest {
 protected:
  ~HttpTest() override;

  /// Starts `satchel serve --transport http --port 0` and waits until it
  /// listens.
  void start(const Words& options);
  /// Ends it by SIGTERM; what it printed on stderr is `Finished::out`.
  Finished stop(int signal = 15);
  void signal(int number);

  HttpAnswer ask(const std::string& method, const std::string& target,
                 const Headers& headers = {}, const std::string& body = "");
  /// A JSON body to /mcp; `token` "" sends none.
  HttpAnswer post(const std::string& body, const std::string& token = "",
                  Headers headers = {});
  /// The structuredContent of a tool call.
  Json call(const std::string& tool, const Json& arguments,
            const std::string& token = "");
  /// One call of the state wire.
  HttpAnswer kv(const std::string& op, const Json& args,
                const std::string& user, const std::string& app,
                const std::string& token);

  /// A tokens file with entries of the token's text under "token".
  std::string tokens_file(const std::vector<Json>& entries);

  int port_ = 0;
  std::string url_;
  /// From its start to its end.
  std::chrono::seconds server_time_{60};
  std::unique_ptr<Process> server_;
};

}  // namespace satchel::test
