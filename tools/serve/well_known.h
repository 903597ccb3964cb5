#pragma once
// Where clients learn who issues tokens: protected resource metadata (RFC 9728)
// and the WWW-Authenticate header that points to it.

#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/authenticate.h"
#include "tools/serve/http_types.h"

namespace satchel::tools::serve {

/// Served only when tokens come from an issuer (--jwks).
class WellKnown {
 public:
  /// `endpoint` is the path of the MCP endpoint.
  WellKnown(const AuthSettings& settings, std::string endpoint);

  /// Whether the document is served at `path`: at the well-known path itself,
  /// and there followed by the path of the endpoint or of the audience.
  bool serves(std::string_view path) const;

  HttpReply document() const;

  /// The header of a 401 or 403. `head` tells where the client found us when
  /// the audience is no URL.
  std::string challenge(const AuthRefusal& refusal, const HttpHead& head) const;

 private:
  std::string metadata_url(const HttpHead& head) const;

  bool served_ = false;
  std::string scope_;
  std::string document_;
  /// scheme://host of the audience, "" when it is no URL.
  std::string origin_;
  std::vector<std::string> paths_;
};

}  // namespace satchel::tools::serve
