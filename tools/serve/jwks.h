#pragma once
// A JSON Web Key Set, and the signatures that its keys prove.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "satchel/json.h"
#include "tools/serve/jwt.h"

struct _cjose_jwk_int;

namespace satchel::tools::serve {

/// An immutable set of public keys. Keys that cannot prove one of our
/// algorithms are left out: other types (symmetric ones above all), RSA under
/// 2,048 bits, another use than "sig", key_ops without "verify", and (RFC 7517,
/// section 5) what cannot be read, so that one odd key of a provider does not
/// shut everybody out. Thread-safe.
class KeySet {
 public:
  /// Reads {"keys":[…]}. Throws invalid_input(jwks) for anything else, and when
  /// there are keys that cannot be read and none of use.
  explicit KeySet(std::string_view text);
  KeySet(const KeySet&) = delete;
  KeySet& operator=(const KeySet&) = delete;

  enum class Verdict {
    proven,
    /// A key that the token may mean is there and did not sign it.
    forged,
    /// No key that the token may mean is here.
    unknown_key,
    /// The token names no key and the set holds several.
    ambiguous,
  };
  /// Whether a key of the set signed `jwt`. The key's type, and its alg when it
  /// has one, must be those of the token's algorithm. A token without kid is
  /// tried only on a set of one key.
  Verdict verify(const Jwt& jwt) const;

 private:
  struct Release {
    void operator()(_cjose_jwk_int* jwk) const;
  };
  struct Key {
    std::unique_ptr<_cjose_jwk_int, Release> jwk;
    KeyType type;
    std::optional<std::string> id;
    std::optional<std::string> algorithm;
  };

  /// None when the key is left out; throws when it cannot be read.
  static std::optional<Key> usable(const Json& key);

  std::vector<Key> keys_;
  /// With those that are left out.
  std::size_t count_ = 0;
};

}  // namespace satchel::tools::serve
