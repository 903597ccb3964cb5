#include "tools/serve/http_rules.h"

#include <algorithm>

#include "satchel/error.h"
#include "tools/serve/digest.h"
#include "tools/serve/hosts.h"

namespace satchel::tools::serve {
namespace {

/// The era of legacy refusals of a transport.
constexpr int kServerError = -32000;

Error wrong_option(const std::string& message) {
  return {ErrorCode::invalid_input, message, {{"field", "arguments"}}};
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return out;
}

HttpReply refusal(int status, int code, const std::string& message) {
  return {status, rpc_error(code, message).body()};
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() &&
                        hex_value(text[i + 1]) >= 0 &&
                        hex_value(text[i + 2]) >= 0;
    if (!escape) {
      out += text[i];
      continue;
    }
    out +=
        static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  return out;
}

/// The name of the one media type, without parameters.
std::string media_type(std::string_view header) {
  auto type = header.substr(0, header.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  return lower(type);
}

bool accepts_json(std::string_view accept) {
  while (true) {
    const auto comma = accept.find(',');
    auto item = accept.substr(0, comma);
    while (item.starts_with(' ') || item.starts_with('\t')) {
      item.remove_prefix(1);
    }
    const auto type = media_type(item);
    if (type == "application/json" || type == "application/*" ||
        type == "*/*") {
      return true;
    }
    if (comma == accept.npos) return false;
    accept.remove_prefix(comma + 1);
  }
}

/// The text that an MCP header stands for; none for a broken =?base64?…?=.
std::optional<std::string> header_text(std::string_view value) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (!value.starts_with(kBegin) || !value.ends_with(kEnd) ||
      value.size() < kBegin.size() + kEnd.size()) {
    return std::string(value);
  }
  value.remove_prefix(kBegin.size());
  value.remove_suffix(kEnd.size());
  return from_base64(value);
}

std::optional<RpcError> mismatch(const HttpHead& head, const char* shown,
                                 std::string_view name, const std::string& body,
                                 const Message& message) {
  const auto value = head.one(name);
  const auto text = value ? header_text(*value) : std::nullopt;
  if (text && *text == body) return {};
  return rpc_error(rpc::kHeaderMismatch,
                   std::string("the header ") + shown +
                       (value ? " does not match the body; send the same value "
                                "in both"
                              : " is missing; send it with the body's value"),
                   message.id, 400);
}

std::optional<RpcError> check_modern(const HttpHead& head,
                                     const Message& message) {
  // A claim that is no string, and a version that is not served, are for the
  // protocol to refuse.
  if (message.version.empty()) return {};
  if (auto error = mismatch(head, "MCP-Protocol-Version",
                            "mcp-protocol-version", message.version, message)) {
    return error;
  }
  if (message.version != kModernVersion) return {};
  if (auto error =
          mismatch(head, "Mcp-Method", "mcp-method", message.method, message)) {
    return error;
  }
  const bool by_name =
      message.method == "tools/call" || message.method == "prompts/get";
  if (!by_name && message.method != "resources/read") return {};
  const auto body = message.param(by_name ? "name" : "uri");
  return mismatch(head, "Mcp-Name", "mcp-name", body, message);
}

std::optional<RpcError> check_legacy(const HttpHead& head,
                                     const Message& message) {
  const auto versions = head.all("mcp-protocol-version");
  if (versions.empty()) return {};
  const auto version = versions[0];
  const bool known =
      versions.size() == 1 &&
      std::find(std::begin(kLegacyVersions), std::end(kLegacyVersions),
                version) != std::end(kLegacyVersions);
  if (known) return {};
  if (version < kModernVersion) {
    return rpc_error(kServerError,
                     "this MCP-Protocol-Version is not supported; supported "
                     "are 2026-07-28 and 2024-10-07 to 2025-11-25",
                     message.id, 400);
  }
  if (message.method == "initialize") {
    return rpc_error(rpc::kHeaderMismatch,
                     "initialize is not part of the version in "
                     "MCP-Protocol-Version",
                     message.id, 400);
  }
  return rpc_error(rpc::kInvalidParams,
                   "a request of this MCP-Protocol-Version carries "
                   "params._meta with io.modelcontextprotocol/protocolVersion "
                   "and io.modelcontextprotocol/clientCapabilities",
                   message.id, 400);
}

}  // namespace

void HostRules::add_audience(const std::string& audience) {
  const auto origin = parse_origin(audience);
  if (!origin) return;
  hosts.insert(origin->authority.host);
  origins.insert(origin->text());
}

void HostRules::add_host(const std::string& name) {
  const auto authority = parse_authority(name);
  if (!authority || !authority->port.empty()) {
    throw wrong_option(
        "--allow-host is a name without scheme and port, for "
        "example memory.example.com");
  }
  hosts.insert(authority->host);
}

void HostRules::add_origin(const std::string& text) {
  const auto origin = parse_origin(text);
  if (!origin || !origin->path.empty()) {
    throw wrong_option(
        "--allow-origin is a scheme and a host, for example "
        "https://app.example.com");
  }
  origins.insert(origin->text());
}

std::optional<Target> parse_target(std::string_view target) {
  Target out;
  if (!target.starts_with('/')) {
    const auto origin = parse_origin(target.substr(0, target.find('?')));
    if (!origin) return {};
    target.remove_prefix(target.find("://") + 3);
    const auto end = std::min(target.find('/'), target.find('?'));
    out.authority = target.substr(0, end);
    target = end == target.npos ? "/" : target.substr(end);
  }
  const auto mark = target.find('?');
  out.path = target.substr(0, mark);
  if (out.path.empty()) out.path = "/";
  if (mark != target.npos) out.query = target.substr(mark + 1);
  return out;
}

bool has_token_in_query(std::string_view query) {
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.find(';'));
    const auto item = query.substr(0, end);
    const auto name = lower(percent_decoded(item.substr(0, item.find('='))));
    if (name == "access_token" || name == "token" || name == "id_token") {
      return true;
    }
    if (end == query.npos) break;
    query.remove_prefix(end + 1);
  }
  return false;
}

std::optional<HttpReply> check_host(const HttpHead& head, const Target& target,
                                    const HostRules& rules) {
  const auto headers = head.all("host");
  const bool bad = headers.size() > 1 || (headers.empty() && head.http11);
  const auto text = !target.authority.empty() ? target.authority
                    : headers.empty()         ? std::string_view()
                                              : headers[0];
  const auto authority = parse_authority(text);
  if (bad || !authority) {
    return refusal(400, kServerError,
                   "the Host header is missing or unreadable");
  }
  if (is_loopback_name(authority->host) ||
      rules.hosts.contains(authority->host)) {
    return {};
  }
  return refusal(403, kServerError,
                 "this server is not known by the name in the Host header; "
                 "its operator can add it with --allow-host");
}

std::optional<HttpReply> check_origin(const HttpHead& head,
                                      const HostRules& rules) {
  const auto origins = head.all("origin");
  if (origins.empty() || (origins.size() == 1 && origins[0].empty())) return {};
  const auto origin =
      origins.size() == 1 ? parse_origin(origins[0]) : std::nullopt;
  if (origin && origin->path.empty() &&
      (is_loopback_name(origin->authority.host) ||
       rules.origins.contains(origin->text()))) {
    return {};
  }
  return refusal(403, kServerError,
                 "pages of this Origin may not call this server; its operator "
                 "can allow them with --allow-origin");
}

std::optional<HttpReply> check_content(const HttpHead& head) {
  const auto type = head.one("content-type");
  if (!type || media_type(*type) != "application/json") {
    return refusal(415, kServerError, "the body must be application/json");
  }
  const auto encoding = head.all("content-encoding");
  if (!encoding.empty() &&
      (encoding.size() > 1 || lower(encoding[0]) != "identity")) {
    return refusal(415, kServerError, "the body must not be compressed");
  }
  const auto accept = head.all("accept");
  if (!accept.empty() &&
      std::none_of(accept.begin(), accept.end(), accepts_json)) {
    return refusal(406, kServerError,
                   "the answer is application/json; accept it");
  }
  return {};
}

std::optional<RpcError> check_mcp_headers(const HttpHead& head,
                                          const Message& message) {
  if (message.kind != MessageKind::request) return {};
  return message.modern ? check_modern(head, message)
                        : check_legacy(head, message);
}

}  // namespace satchel::tools::serve
