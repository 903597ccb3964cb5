#pragma once
// JSON-RPC messages of MCP, read strictly, and the errors that answer what is
// no message. Both eras are read alike: a message is modern (2026-07-28) when
// its params._meta claims a protocol version, else legacy.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace satchel::tools::serve {

inline constexpr std::string_view kModernVersion = "2026-07-28";
/// Legacy revisions that are served, newest first.
inline constexpr std::string_view kLegacyVersions[] = {
    "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"};

namespace rpc {
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
/// Legacy only.
inline constexpr int kResourceNotFound = -32002;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kUnsupportedVersion = -32022;
}  // namespace rpc

/// A failure of the protocol (tools fail inside their results).
struct RpcError {
  int code = 0;
  std::string message;
  /// JSON text; empty: none.
  std::string data{};
  /// The request's id as JSON text; empty: unknown, and left out of the body.
  std::string id{};
  int http_status = 200;

  /// The JSON-RPC response.
  std::string body() const;
};

enum class MessageKind : std::uint8_t {
  request,
  notification,
  response,
  batch
};

/// Copies share the text that the views point into.
struct Message {
  std::shared_ptr<const std::string> text;
  MessageKind kind = MessageKind::request;
  /// The id as it was sent, JSON text of a string or an integer; empty for a
  /// notification and a batch.
  std::string id;
  std::string method;
  /// JSON text of an object; empty when absent or null.
  std::string_view params;
  /// The JSON text of params._meta when it is an object, else empty.
  std::string_view meta;
  /// params._meta claims a protocol version (of whatever type).
  bool modern = false;
  /// The claim when it is a string.
  std::string version;
  /// The name in clientInfo, of _meta or of initialize's params; may be empty.
  std::string client_name;
  /// params is neither an object nor absent: the request is -32602.
  bool bad_params = false;
  /// Of a batch: each element, an error where it is no message.
  std::vector<std::variant<Message, RpcError>> elements;

  /// The text of the string member `name` of params; empty when there is none.
  /// (What Mcp-Name is compared with: `name` or `uri`.)
  std::string param(std::string_view name) const;
};

using ReadResult = std::variant<Message, RpcError>;

/// Reads one message, or a batch. Refused with http_status 400: text that is no
/// JSON or not UTF-8 (-32700); a member that stands twice in any object (-32600
/// with the id if the top level has exactly one, else -32700); what is no
/// message, an id that is neither string nor integer, an empty batch, one of
/// over 100 (-32600). Nesting and the range of numbers are not judged here.
/// Needs little stack whatever the text.
ReadResult read_message(std::string text);

/// "sent" by code that knows a message's id: id may be empty.
RpcError rpc_error(int code, std::string message, const std::string& id = {},
                   int http_status = 200);

}  // namespace satchel::tools::serve
