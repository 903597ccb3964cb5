#pragma once
// Who a request comes from, proven by its Authorization header alone: the
// tokens file is asked first, then the JWT rules; without a header there is the
// anonymous bucket, if it is allowed.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/serve/caller.h"
#include "tools/serve/jwks_source.h"
#include "tools/serve/principal.h"
#include "tools/serve/tokens.h"

namespace satchel::tools::serve {

struct AuthSettings {
  /// Files and URLs as given; "" for what is not used.
  std::string tokens;
  std::string jwks;
  std::string issuer;
  std::string audience;
  /// All of them are needed (by who has a token).
  std::vector<std::string> scopes;
  bool allow_anonymous = false;
  ScopeBy scope_by = ScopeBy::user;
  /// Label of writes before the token's client; may be "".
  std::string writer;
};

/// Not let in. `description` is for the client and holds nothing of the token.
struct AuthRefusal {
  /// 400, 401 or 403.
  int status = 401;
  /// RFC 6750: invalid_request, invalid_token, insufficient_scope.
  std::string error = "invalid_token";
  std::string description;
};

/// The token's key is not in the set: ask again once the set was read again.
struct NeedsKeys {};

using AuthOutcome = std::variant<Caller, AuthRefusal, NeedsKeys>;

/// Thread-safe.
class Authenticator {
 public:
  /// Reads the files and the key set. Throws invalid_input: none of the three
  /// sources, jwks without issuer and audience, a file that is refused.
  explicit Authenticator(AuthSettings settings);

  /// Decides by the values of all Authorization headers of the request. After
  /// NeedsKeys the caller calls refresh_keys and asks once more with `again`,
  /// which never gives NeedsKeys.
  AuthOutcome authenticate(const std::vector<std::string_view>& authorization,
                           bool again) const;

  /// KeySource::refresh.
  bool refresh_keys(std::function<void()> done);

  /// Reads the tokens file and the key set again (SIGHUP); what cannot be read
  /// is told on stderr and stays as it was.
  void reload();

  /// False while a key set was never read.
  bool ready() const;

  const AuthSettings& settings() const { return settings_; }

 private:
  AuthOutcome by_token(std::string_view token, bool again) const;
  AuthOutcome admit(const Principal& principal,
                    const std::vector<std::string>& scopes,
                    const std::string& app) const;

  const AuthSettings settings_;
  const std::string audience_app_;
  std::unique_ptr<TokenFile> tokens_;
  std::unique_ptr<KeySource> keys_;
};

/// The state wire's mcpId of an audience: mcp_ and 32 hex digits.
std::string app_of_audience(const std::string& audience);

}  // namespace satchel::tools::serve
