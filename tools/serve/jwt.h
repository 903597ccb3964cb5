#pragma once
// What a JWT says and whether it may say so here: everything but the signature.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "satchel/clock.h"

namespace satchel::tools::serve {

/// The key types that a signature algorithm needs.
enum class KeyType { rsa, p256, p384, p521 };

/// A token that is well-formed; nothing in it is proven yet.
struct Jwt {
  std::string text;
  std::string algorithm;
  KeyType key_type = KeyType::rsa;
  std::optional<std::string> key_id;

  std::string issuer;
  std::string subject;
  std::vector<std::string> audience;
  /// client_id, else azp; "" when it names neither.
  std::string client;
  /// Of `scope`, else of `scp`.
  std::vector<std::string> scopes;
  /// Seconds since 1970.
  double expires = 0;
  std::optional<double> not_before;
};

/// Why a token is refused; a sentence for the client that holds nothing of the
/// token.
struct TokenRefused {
  std::string why;
};

/// Reads the compact form of a signed token. Throws TokenRefused when it is no
/// such form, when its algorithm is none of RS, PS and ES with 256, 384 and
/// 512, when it has `crit` or another typ than at+jwt or JWT, when exp, sub or
/// iss are missing or anything read here has the wrong type.
Jwt parse_jwt(std::string_view token);

struct JwtRules {
  std::string issuer;
  std::string audience;
};

/// Checks issuer and audience (byte for byte) and the times, with a minute of
/// leeway. Throws TokenRefused.
void check_claims(const Jwt& jwt, const JwtRules& rules, Time now);

}  // namespace satchel::tools::serve
