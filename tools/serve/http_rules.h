#pragma once
// What a request must look like before its body is read, and how the headers
// of MCP must fit the message.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/http_types.h"
#include "tools/serve/message.h"

namespace satchel::tools::serve {

/// Which names of this server and which origins of pages are known. Loopback
/// names always are.
struct HostRules {
  /// Lower-case, without port.
  std::set<std::string> hosts;
  /// As Origin::text.
  std::set<std::string> origins;

  /// The audience's host joins both.
  void add_audience(const std::string& audience);
  /// --allow-host, --allow-origin; throw invalid_input(arguments).
  void add_host(const std::string& name);
  void add_origin(const std::string& origin);
};

struct Target {
  std::string_view path;
  std::string_view query;
  /// Host and port of an absolute target; empty: the Host header counts.
  std::string_view authority;
};

/// The parts of a request's target; none when it is neither a path nor an
/// http or https URL.
std::optional<Target> parse_target(std::string_view target);

/// Whether the query has a parameter of the name access_token, token or
/// id_token.
bool has_token_in_query(std::string_view query);

/// 400 or 403 for a Host or an Origin that is not known.
std::optional<HttpReply> check_host(const HttpHead& head, const Target& target,
                                    const HostRules& rules);
std::optional<HttpReply> check_origin(const HttpHead& head,
                                      const HostRules& rules);

/// 415 unless the body is application/json as it is; 406 when an Accept header
/// leaves no room for JSON.
std::optional<HttpReply> check_content(const HttpHead& head);

/// The headers of MCP beside the message they came with: the version, and in
/// the modern era Mcp-Method and Mcp-Name. The RpcError has its HTTP status.
std::optional<RpcError> check_mcp_headers(const HttpHead& head,
                                          const Message& message);

}  // namespace satchel::tools::serve
