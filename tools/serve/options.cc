#include "tools/serve/options.h"

#include "tools/arguments.h"
#include "tools/ttl.h"

namespace satchel::tools::serve {
namespace {

std::optional<std::chrono::microseconds> duration(
    const std::optional<std::string>& text, const char* option) {
  if (!text) return {};
  try {
    return parse_ttl(*text).duration();
  } catch (const Error&) {
    throw wrong_usage(std::string(option) +
                      " takes a time such as 12h or 7d, not " + shown(*text));
  }
}

}  // namespace

void ServeArguments::declare(CLI::App* command) {
  add_value(command, "--transport", transport, "stdio or http; else stdio",
            "T");
  http.declare(command);
  add_value(command, "--default-ttl", default_ttl,
            "What a create without a lifetime gets", "T");
  add_value(command, "--max-ttl", max_ttl, "The longest lifetime", "T");
  add_switch(command, "--require-ttl", require_ttl,
             "A create must say how long");
  add_value(command, "--scope-by", scope_by,
            "Who shares state: user, or user+client; else user", "S");
  add_value(command, "--audit-log", audit_log,
            "A line for each read, write and refusal", "FILE");
  add_switch(command, "--audit-best-effort", audit_best_effort,
             "Calls go on when it cannot be written");
}

bool ServeArguments::is_http() const {
  const auto kind = transport.value_or("stdio");
  if (kind == "http") return true;
  if (kind != "stdio") {
    throw wrong_usage("--transport is stdio or http, not " + shown(kind));
  }
  const auto option = http.first_given();
  if (!option.empty()) {
    throw wrong_usage(option + " is for --transport http");
  }
  if (identity() == ScopeBy::user_and_client) {
    throw wrong_usage(
        "--scope-by user+client is for --transport http: on stdio nothing "
        "proves which client calls");
  }
  return false;
}

Policy ServeArguments::policy() const {
  Policy policy;
  policy.default_ttl = duration(default_ttl, "--default-ttl");
  policy.max_ttl = duration(max_ttl, "--max-ttl");
  policy.require_ttl = require_ttl;
  policy.validate();
  return policy;
}

ScopeBy ServeArguments::identity() const {
  const auto text = scope_by.value_or("user");
  if (text == "user") return ScopeBy::user;
  if (text == "user+client") return ScopeBy::user_and_client;
  throw wrong_usage("--scope-by is user or user+client, not " + shown(text));
}

std::unique_ptr<AuditLog> ServeArguments::audit() const {
  if (audit_best_effort && !audit_log) {
    throw wrong_usage("--audit-best-effort is for --audit-log");
  }
  if (!audit_log) return nullptr;
  if (audit_log->empty())
    throw wrong_usage("--audit-log is empty; name a file");
  return std::make_unique<AuditLog>(*audit_log, audit_best_effort);
}

}  // namespace satchel::tools::serve
