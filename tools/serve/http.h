#pragma once
// The HTTP transport: a listener, any number of connections on one thread, a
// bounded pool of threads for the calls.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tools/serve/router.h"

namespace satchel::tools::serve {

struct HttpSettings {
  /// A name or an address of this machine.
  std::string host = "127.0.0.1";
  /// 0: any.
  std::uint16_t port = 8000;
  std::string path = "/mcp";
  /// Both or neither.
  std::string tls_certificate;
  std::string tls_key;
  bool behind_proxy = false;

  std::uint64_t max_body_bytes = 9 << 20;
  std::size_t max_connections = 8192;
  std::size_t workers = 32;
  /// A connection on which nothing is asked ends after this.
  std::chrono::seconds idle_time{300};
  /// For a TLS handshake, and for a head from its first byte.
  std::chrono::seconds head_time{15};
  /// For a body, and for a reply that is not taken.
  std::chrono::seconds body_time{60};
};

/// One server. Its memory grows with the connections, by some kilobytes each;
/// of a body that nobody has proven to send, at most 64 KiB is read.
class HttpServer {
 public:
  /// Binds and listens. Throws invalid_input(arguments) for a certificate that
  /// cannot be used, for an address beyond this machine without TLS or
  /// behind_proxy, and backend_error when the port is taken. `router` and
  /// `authenticator` outlive this.
  HttpServer(HttpSettings settings, const Router& router,
             Authenticator& authenticator);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// scheme://host:port/path with the port that was bound.
  std::string url() const;

  /// Serves until SIGTERM or SIGINT; SIGHUP reads tokens and keys again. Then
  /// takes no more connections and returns when the running requests are
  /// answered, after four seconds at the latest. Called once.
  void run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace satchel::tools::serve
