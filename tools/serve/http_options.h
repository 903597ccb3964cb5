#pragma once
// The options of `satchel serve` that are about HTTP.

#include <optional>
#include <string>
#include <vector>

#include "tools/serve/authenticate.h"
#include "tools/serve/http.h"
#include "tools/serve/http_rules.h"

namespace CLI {
class App;
}  // namespace CLI

namespace satchel::tools::serve {

struct HttpArguments {
  std::optional<std::string> host, port, path;
  std::optional<std::string> tokens, jwks, issuer, audience;
  std::vector<std::string> scopes;
  bool allow_anonymous = false;
  std::vector<std::string> allow_hosts, allow_origins;
  std::optional<std::string> tls_certificate, tls_key, max_connections;
  bool behind_proxy = false;

  /// Declares them; this outlives `command`.
  void declare(CLI::App* command);

  /// The first one that was given, as it is typed; "" for none. On stdio none
  /// has a meaning.
  std::string first_given() const;

  /// What they say, checked; throw invalid_input(arguments).
  HttpSettings http(std::uint64_t max_state_bytes) const;
  AuthSettings authentication(ScopeBy scope_by,
                              const std::string& writer) const;
  HostRules hosts() const;
};

}  // namespace satchel::tools::serve
