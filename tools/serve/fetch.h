#pragma once
// Reading one document from the web, for key sets.

#include <chrono>
#include <string>

namespace satchel::tools::serve {

struct Url {
  bool tls = false;
  std::string host;
  std::string port;
  /// Path and query, from "/".
  std::string target;
  /// host[:port] as it stood in the URL.
  std::string authority;
};

/// Reads an http or https URL without user, password or fragment. Throws
/// invalid_input(jwks). http is allowed only for loopback hosts.
Url parse_fetch_url(const std::string& text);

struct FetchLimits {
  std::size_t bytes = std::size_t{512} << 10;
  std::chrono::seconds time{5};
};

/// The body of a 200 to GET; https with the system's certificates, redirects
/// not followed. Throws backend_error whose message names no part of the URL.
std::string fetch(const Url& url, const FetchLimits& limits = {});

}  // namespace satchel::tools::serve
