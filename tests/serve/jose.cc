#include "tests/serve/jose.h"

#include <cjose/cjose.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdlib>
#include <stdexcept>

namespace satchel::test {

std::string base64url(std::string_view bytes) {
  char* text = nullptr;
  std::size_t size = 0;
  cjose_err error{};
  if (!cjose_base64url_encode(
          reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
          &text, &size, &error)) {
    throw std::runtime_error("base64url");
  }
  std::string out(text, size);
  std::free(text);
  return out;
}

SigningKey::SigningKey(cjose_jwk_t* key) : key_(key, cjose_jwk_release) {
  if (!key) throw std::runtime_error("a key cannot be made");
}

SigningKey SigningKey::rsa(const std::string& id, int bits) {
  const std::uint8_t e[] = {1, 0, 1};
  cjose_err error{};
  SigningKey key(cjose_jwk_create_RSA_random(static_cast<std::size_t>(bits), e,
                                             sizeof e, &error));
  cjose_jwk_set_kid(key.key_.get(), id.data(), id.size(), &error);
  return key;
}

namespace {

cjose_jwk_t* elliptic(cjose_jwk_ec_curve curve, const std::string& id) {
  cjose_err error{};
  cjose_jwk_t* key = cjose_jwk_create_EC_random(curve, &error);
  if (key) cjose_jwk_set_kid(key, id.data(), id.size(), &error);
  return key;
}

}  // namespace

SigningKey SigningKey::p256(const std::string& id) {
  return SigningKey(elliptic(CJOSE_JWK_EC_P_256, id));
}

SigningKey SigningKey::p384(const std::string& id) {
  return SigningKey(elliptic(CJOSE_JWK_EC_P_384, id));
}

Json SigningKey::jwk(const Json& more) const {
  cjose_err error{};
  char* text = cjose_jwk_to_json(key_.get(), false, &error);
  Json json = Json::parse(text);
  std::free(text);
  json.update(more);
  return json;
}

std::string SigningKey::sign(const Json& header, const Json& claims) const {
  cjose_err error{};
  cjose_header_t* head = cjose_header_new(&error);
  for (const auto& [name, value] : header.items()) {
    // cjose takes arrays and objects as they are, and strings.
    const bool set =
        value.is_string()
            ? cjose_header_set(head, name.c_str(),
                               value.get<std::string>().c_str(), &error)
            : cjose_header_set_raw(head, name.c_str(), value.dump().c_str(),
                                   &error);
    if (!set) throw std::runtime_error("header " + name);
  }
  const auto payload = claims.dump();
  cjose_jws_t* jws = cjose_jws_sign(
      key_.get(), head, reinterpret_cast<const std::uint8_t*>(payload.data()),
      payload.size(), &error);
  cjose_header_release(head);
  if (!jws) throw std::runtime_error("sign");
  const char* text = nullptr;
  cjose_jws_export(jws, &text, &error);
  std::string out = text;
  cjose_jws_release(jws);
  return out;
}

std::string unsigned_token(const Json& header, const Json& claims,
                           std::string_view signature) {
  return base64url(header.dump()) + '.' + base64url(claims.dump()) + '.' +
         std::string(signature);
}

std::string hmac_token(const Json& header, const Json& claims,
                       const std::string& secret) {
  const auto text = base64url(header.dump()) + '.' + base64url(claims.dump());
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest,
       &size);
  return text + '.' + base64url({reinterpret_cast<const char*>(digest), size});
}

std::string key_set(const std::vector<Json>& keys) {
  Json set = {{"keys", Json::array()}};
  for (const auto& key : keys) set["keys"].push_back(key);
  return set.dump();
}

}  // namespace satchel::test
