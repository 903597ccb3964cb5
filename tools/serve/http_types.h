#pragma once
// HTTP requests and replies, whatever carries them.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace satchel::tools::serve {

/// The head of a request. The views belong to whoever read it.
struct HttpHead {
  std::string_view method;
  /// As sent: a path with a query, or an absolute URL.
  std::string_view target;
  /// Names as sent.
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  /// HTTP/1.1, where Host is required.
  bool http11 = true;
  bool tls = false;

  /// The values of the header `name` (lower-case), blanks around them stripped.
  std::vector<std::string_view> all(std::string_view name) const;
  /// The value when the header stands there once; several count as none.
  std::optional<std::string_view> one(std::string_view name) const;
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// A reply in words.
HttpReply text_reply(int status, std::string text);

}  // namespace satchel::tools::serve
