#pragma once
// The options of `satchel serve` that both transports have.

#include <memory>
#include <optional>
#include <string>

#include "tools/serve/audit.h"
#include "tools/serve/http_options.h"
#include "tools/serve/policy.h"

namespace CLI {
class App;
}  // namespace CLI

namespace satchel::tools::serve {

struct ServeArguments {
  std::optional<std::string> transport;
  HttpArguments http;
  std::optional<std::string> default_ttl, max_ttl, scope_by, audit_log;
  bool require_ttl = false;
  bool audit_best_effort = false;

  /// Declares them; this outlives `command`.
  void declare(CLI::App* command);

  /// Whether HTTP is asked for; throws invalid_input(arguments) for another
  /// transport, and for options that stdio does not have.
  bool is_http() const;
  Policy policy() const;
  ScopeBy identity() const;
  /// Null without --audit-log.
  std::unique_ptr<AuditLog> audit() const;
};

}  // namespace satchel::tools::serve
