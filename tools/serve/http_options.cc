#include "tools/serve/http_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>

#include "tools/arguments.h"

namespace satchel::tools::serve {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

void add_list(CLI::App* command, const char* name,
              std::vector<std::string>& target, const char* what,
              const char* shown_as) {
  command->add_option(name, target, what)
      ->type_name(shown_as)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// Given and not empty; "" when not given.
std::string text_of(const std::optional<std::string>& value,
                    const char* option) {
  if (value && value->empty()) {
    throw wrong_usage(std::string(option) +
                      " is empty; give a value or leave it out");
  }
  return value.value_or("");
}

/// What may stand inside a quoted string of a header.
std::string plain(std::string text, const char* option) {
  const auto good = [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\\';
  };
  if (!std::all_of(text.begin(), text.end(), good)) {
    throw wrong_usage(std::string(option) +
                      " is printable ASCII without blanks and quotes, not " +
                      shown(text));
  }
  return text;
}

std::uint64_t number(const std::optional<std::string>& text, const char* option,
                     std::uint64_t least, std::uint64_t most,
                     std::uint64_t otherwise) {
  if (!text) return otherwise;
  const auto value = parse_number(*text, option, "arguments");
  if (value < least || value > most) {
    throw wrong_usage(std::string(option) + " is " + std::to_string(least) +
                      " to " + std::to_string(most));
  }
  return value;
}

std::string checked_path(const std::string& path) {
  const auto good = [](char c) {
    return c > ' ' && c < 0x7f && c != '?' && c != '#' && c != '%' &&
           c != '"' && c != '\\';
  };
  if (!path.starts_with('/') || !std::all_of(path.begin(), path.end(), good)) {
    throw wrong_usage("--path is a path such as /mcp");
  }
  if (path == "/healthz" || path == "/readyz" ||
      path.starts_with("/v1/state") || path.starts_with("/.well-known")) {
    throw wrong_usage("--path " + shown(path) + " is taken by another service");
  }
  return path;
}

}  // namespace

void HttpArguments::declare(CLI::App* command) {
  add_value(command, "--host", host, "Address to listen on; else 127.0.0.1",
            "H");
  add_value(command, "--port", port, "Port; 0: any free one; else 8000", "N");
  add_value(command, "--path", path, "Where MCP is; else /mcp", "P");
  add_value(command, "--tokens", tokens, "File of known tokens, mode 0600",
            "FILE");
  add_value(command, "--jwks", jwks, "Keys that sign JWTs", "FILE|URL");
  add_value(command, "--issuer", issuer, "The JWTs' iss", "ISS");
  add_value(command, "--audience", audience, "The JWTs' aud: this server's URL",
            "URL");
  add_list(command, "--scope", scopes, "Scope that a token needs", "S");
  add_switch(command, "--allow-anonymous", allow_anonymous,
             "All without a token share one bucket");
  add_list(command, "--allow-host", allow_hosts,
           "Further name of this server in Host headers", "NAME");
  add_list(command, "--allow-origin", allow_origins,
           "Origin whose pages may call", "ORIGIN");
  add_value(command, "--tls-cert", tls_certificate, "Certificate chain, PEM",
            "FILE");
  add_value(command, "--tls-key", tls_key, "Its private key, PEM", "FILE");
  add_switch(command, "--behind-proxy", behind_proxy,
             "A proxy in front speaks TLS");
  add_value(command, "--max-connections", max_connections,
            "Connections at once; else 8192", "N");
}

std::string HttpArguments::first_given() const {
  const std::pair<bool, const char*> all[] = {
      {host.has_value(), "--host"},
      {port.has_value(), "--port"},
      {path.has_value(), "--path"},
      {tokens.has_value(), "--tokens"},
      {jwks.has_value(), "--jwks"},
      {issuer.has_value(), "--issuer"},
      {audience.has_value(), "--audience"},
      {!scopes.empty(), "--scope"},
      {allow_anonymous, "--allow-anonymous"},
      {!allow_hosts.empty(), "--allow-host"},
      {!allow_origins.empty(), "--allow-origin"},
      {tls_certificate.has_value(), "--tls-cert"},
      {tls_key.has_value(), "--tls-key"},
      {behind_proxy, "--behind-proxy"},
      {max_connections.has_value(), "--max-connections"}};
  for (const auto& [given, name] : all) {
    if (given) return name;
  }
  return {};
}

HttpSettings HttpArguments::http(std::uint64_t max_state_bytes) const {
  HttpSettings settings;
  if (host) settings.host = text_of(host, "--host");
  settings.port =
      static_cast<std::uint16_t>(number(port, "--port", 0, 65535, 8000));
  if (path) settings.path = checked_path(*path);
  settings.tls_certificate = text_of(tls_certificate, "--tls-cert");
  settings.tls_key = text_of(tls_key, "--tls-key");
  settings.behind_proxy = behind_proxy;
  settings.max_connections =
      number(max_connections, "--max-connections", 1, 1'000'000, 8192);
  settings.max_body_bytes = 8 * max_state_bytes + kMiB;
  return settings;
}

AuthSettings HttpArguments::authentication(ScopeBy scope_by,
                                           const std::string& writer) const {
  AuthSettings settings;
  settings.tokens = text_of(tokens, "--tokens");
  settings.jwks = text_of(jwks, "--jwks");
  settings.issuer = text_of(issuer, "--issuer");
  settings.audience = plain(text_of(audience, "--audience"), "--audience");
  for (const auto& words : scopes) {
    std::istringstream stream(words);
    for (std::string word; stream >> word;) {
      settings.scopes.push_back(plain(word, "--scope"));
    }
  }
  settings.allow_anonymous = allow_anonymous;
  settings.scope_by = scope_by;
  settings.writer = writer;
  return settings;
}

HostRules HttpArguments::hosts() const {
  HostRules rules;
  if (audience) rules.add_audience(*audience);
  for (const auto& name : allow_hosts) rules.add_host(name);
  for (const auto& origin : allow_origins) rules.add_origin(origin);
  return rules;
}

}  // namespace satchel::tools::serve
