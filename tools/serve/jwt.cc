#include "tools/serve/jwt.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>

#include "api/utf8.h"
#include "satchel/document.h"
#include "tools/serve/digest.h"

namespace satchel::tools::serve {
namespace {

constexpr double kLeewaySeconds = 60;
/// Longer text of a token's client or key id is refused.
constexpr std::size_t kMaxNameBytes = 256;

struct Algorithm {
  std::string_view name;
  KeyType key_type;
  /// Of a signature, where it does not depend on the key. (cjose ignores what
  /// is behind it.)
  std::size_t bytes = 0;
};
constexpr Algorithm kAlgorithms[] = {
    {"RS256", KeyType::rsa},      {"RS384", KeyType::rsa},
    {"RS512", KeyType::rsa},      {"PS256", KeyType::rsa},
    {"PS384", KeyType::rsa},      {"PS512", KeyType::rsa},
    {"ES256", KeyType::p256, 64}, {"ES384", KeyType::p384, 96},
    {"ES512", KeyType::p521, 132}};

Json part(std::string_view text, const char* which) {
  const auto bytes = from_base64url(text);
  const auto document =
      bytes ? Document::parse(*bytes) : Result<Document>(Document());
  if (!bytes || !document || !document->json().is_object()) {
    throw TokenRefused{std::string("its ") + which +
                       " is not the base64url of a JSON object"};
  }
  return document->json();
}

std::optional<std::string> text_of(const Json& object, const char* member) {
  if (!object.contains(member)) return {};
  const auto* text = object[member].get_ptr<const std::string*>();
  if (!text) throw TokenRefused{std::string(member) + " is not a string"};
  return *text;
}

std::string required(const Json& object, const char* member) {
  const auto text = text_of(object, member);
  if (!text || text->empty()) {
    throw TokenRefused{std::string("it has no ") + member};
  }
  return *text;
}

std::optional<double> date(const Json& object, const char* member) {
  if (!object.contains(member)) return {};
  if (!object[member].is_number()) {
    throw TokenRefused{std::string(member) + " is not a number"};
  }
  return object[member].get<double>();
}

/// A string, or a list of strings.
std::vector<std::string> list(const Json& object, const char* member) {
  const Json& value = object[member];
  if (value.is_string()) return {value.get<std::string>()};
  const bool good = value.is_array() &&
                    std::all_of(value.begin(), value.end(),
                                [](const Json& v) { return v.is_string(); });
  if (!good) {
    throw TokenRefused{std::string(member) +
                       " is no string or list of strings"};
  }
  return value.get<std::vector<std::string>>();
}

std::vector<std::string> scopes_of(const Json& claims) {
  const char* member = claims.contains("scope") ? "scope" : "scp";
  std::vector<std::string> scopes;
  if (!claims.contains(member)) return scopes;
  for (const auto& words : list(claims, member)) {
    std::istringstream stream(words);
    for (std::string word; stream >> word;) scopes.push_back(word);
  }
  return scopes;
}

std::string client_of(const Json& claims) {
  for (const char* member : {"client_id", "azp"}) {
    const auto client = text_of(claims, member);
    if (!client) continue;
    if (client->empty() || client->size() > kMaxNameBytes ||
        has_control_character(*client)) {
      throw TokenRefused{std::string(member) +
                         " is not 1 to 256 bytes without control characters"};
    }
    return *client;
  }
  return {};
}

void check_type(const Json& header) {
  auto type = text_of(header, "typ");
  if (!type) return;
  std::transform(type->begin(), type->end(), type->begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (*type != "jwt" && *type != "at+jwt" && *type != "application/at+jwt") {
    throw TokenRefused{"its typ is neither at+jwt nor JWT"};
  }
}

void read_header(const Json& header, std::size_t signature_bytes, Jwt& out) {
  out.algorithm = required(header, "alg");
  const auto* known =
      std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                   [&](const Algorithm& a) { return a.name == out.algorithm; });
  if (known == std::end(kAlgorithms)) {
    throw TokenRefused{"its algorithm is none of RS, PS and ES"};
  }
  out.key_type = known->key_type;
  if (known->bytes && known->bytes != signature_bytes) {
    throw TokenRefused{"its signature has another length than its algorithm's"};
  }
  if (header.contains("crit")) {
    throw TokenRefused{"it has critical extensions"};
  }
  check_type(header);
  out.key_id = text_of(header, "kid");
}

void read_claims(const Json& claims, Jwt& out) {
  out.issuer = required(claims, "iss");
  out.subject = required(claims, "sub");
  if (!claims.contains("aud")) throw TokenRefused{"it has no aud"};
  out.audience = list(claims, "aud");
  const auto expires = date(claims, "exp");
  if (!expires) throw TokenRefused{"it has no exp"};
  out.expires = *expires;
  out.not_before = date(claims, "nbf");
  out.client = client_of(claims);
  out.scopes = scopes_of(claims);
}

}  // namespace

Jwt parse_jwt(std::string_view token) {
  const auto first = token.find('.');
  const auto second = first == token.npos ? first : token.find('.', first + 1);
  if (second == token.npos || token.find('.', second + 1) != token.npos) {
    throw TokenRefused{"it is not a signed JWT in compact form"};
  }
  const auto signature = from_base64url(token.substr(second + 1));
  if (!signature || signature->empty()) {
    throw TokenRefused{"it has no readable signature"};
  }
  Jwt out;
  out.text = token;
  read_header(part(token.substr(0, first), "header"), signature->size(), out);
  read_claims(part(token.substr(first + 1, second - first - 1), "payload"),
              out);
  return out;
}

void check_claims(const Jwt& jwt, const JwtRules& rules, Time now) {
  if (jwt.issuer != rules.issuer) {
    throw TokenRefused{"it is of another issuer"};
  }
  if (std::find(jwt.audience.begin(), jwt.audience.end(), rules.audience) ==
      jwt.audience.end()) {
    throw TokenRefused{"it is for another audience"};
  }
  const double seconds =
      std::chrono::duration<double>(now.time_since_epoch()).count();
  if (seconds >= jwt.expires + kLeewaySeconds) {
    throw TokenRefused{"it has expired"};
  }
  if (jwt.not_before && seconds + kLeewaySeconds < *jwt.not_before) {
    throw TokenRefused{"it is not valid yet"};
  }
}

}  // namespace satchel::tools::serve
