#pragma once
// Keys and tokens for tests, made at run time.

#include <memory>
#include <string>
#include <string_view>

#include "satchel/json.h"

struct _cjose_jwk_int;

namespace satchel::test {

std::string base64url(std::string_view bytes);

/// A key pair that signs tokens.
class SigningKey {
 public:
  static SigningKey rsa(const std::string& id, int bits = 2048);
  static SigningKey p256(const std::string& id);
  static SigningKey p384(const std::string& id);

  /// The public key as it stands in a set, with the members of `more`.
  Json jwk(const Json& more = Json::object()) const;
  /// The compact form of `claims`, signed as `header` says.
  std::string sign(const Json& header, const Json& claims) const;

 private:
  explicit SigningKey(_cjose_jwk_int* key);
  std::shared_ptr<_cjose_jwk_int> key_;
};

/// HEADER.PAYLOAD. with the signature as it is given.
std::string unsigned_token(const Json& header, const Json& claims,
                           std::string_view signature = "");
/// The same with an HMAC-SHA-256 by `secret`.
std::string hmac_token(const Json& header, const Json& claims,
                       const std::string& secret);

/// {"keys":[…]} as text.
std::string key_set(const std::vector<Json>& keys);

}  // namespace satchel::test
