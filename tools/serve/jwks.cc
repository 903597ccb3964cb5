#include "tools/serve/jwks.h"

#include <cjose/cjose.h>

#include <algorithm>
#include <utility>

#include "satchel/document.h"
#include "satchel/error.h"

namespace satchel::tools::serve {
namespace {

constexpr std::size_t kMinRsaBits = 2048;

Error refused(const std::string& what) {
  return {
      ErrorCode::invalid_input, "the key set: " + what, {{"field", "jwks"}}};
}

std::optional<std::string> text_of(const Json& object, const char* member) {
  if (!object.contains(member)) return {};
  const auto* text = object[member].get_ptr<const std::string*>();
  if (!text) throw refused(std::string(member) + " of a key is not a string");
  return *text;
}

/// Whether the key is meant to check signatures.
bool is_for_signatures(const Json& key) {
  const auto use = text_of(key, "use");
  if (use && *use != "sig") return false;
  if (!key.contains("key_ops")) return true;
  const Json& ops = key["key_ops"];
  return ops.is_array() &&
         std::find(ops.begin(), ops.end(), Json("verify")) != ops.end();
}

std::optional<KeyType> type_of(const Json& key) {
  const auto type = text_of(key, "kty");
  if (type == "RSA") return KeyType::rsa;
  if (type != "EC") return {};
  const auto curve = text_of(key, "crv");
  if (curve == "P-256") return KeyType::p256;
  if (curve == "P-384") return KeyType::p384;
  if (curve == "P-521") return KeyType::p521;
  return {};
}

/// Only what a public key is made of: a private part in the set is not used.
Json public_part(const Json& key) {
  Json out = Json::object();
  for (const char* member : {"kty", "crv", "n", "e", "x", "y"}) {
    if (key.contains(member)) out[member] = key[member];
  }
  return out;
}

bool signed_by(const Jwt& jwt, const cjose_jwk_t* key) {
  cjose_err error{};
  cjose_jws_t* jws = cjose_jws_import(jwt.text.data(), jwt.text.size(), &error);
  if (!jws) return false;
  const bool good = cjose_jws_verify(jws, key, &error);
  cjose_jws_release(jws);
  return good;
}

}  // namespace

KeySet::KeySet(std::string_view text) {
  const auto document = Document::parse(text);
  if (!document) throw refused("is no JSON: " + document.error().message);
  const Json& root = document->json();
  if (!root.is_object() || !root.contains("keys") || !root["keys"].is_array()) {
    throw refused(R"(is an object {"keys":[…]})");
  }
  std::optional<Error> unreadable;
  for (const Json& key : root["keys"]) {
    ++count_;
    try {
      if (auto read = usable(key)) keys_.push_back(std::move(*read));
    } catch (const Error& error) {
      unreadable = error;
    }
  }
  if (unreadable && keys_.empty()) throw Error(*unreadable);
}

std::optional<KeySet::Key> KeySet::usable(const Json& key) {
  if (!key.is_object()) throw refused("a key is not an object");
  const auto type = type_of(key);
  if (!type || !is_for_signatures(key)) return {};
  const auto json = public_part(key).dump();
  cjose_err error{};
  Key out{{}, *type, text_of(key, "kid"), text_of(key, "alg")};
  out.jwk.reset(cjose_jwk_import(json.data(), json.size(), &error));
  if (!out.jwk) throw refused("a key cannot be read");
  if (*type == KeyType::rsa &&
      cjose_jwk_get_keysize(out.jwk.get(), &error) < kMinRsaBits) {
    return {};
  }
  return out;
}

void KeySet::Release::operator()(_cjose_jwk_int* jwk) const {
  cjose_jwk_release(jwk);
}

KeySet::Verdict KeySet::verify(const Jwt& jwt) const {
  if (!jwt.key_id && count_ > 1) return Verdict::ambiguous;
  auto verdict = Verdict::unknown_key;
  for (const Key& key : keys_) {
    if (jwt.key_id && key.id != jwt.key_id) continue;
    verdict = Verdict::forged;
    if (key.type != jwt.key_type) continue;
    if (key.algorithm && *key.algorithm != jwt.algorithm) continue;
    if (signed_by(jwt, key.jwk.get())) return Verdict::proven;
  }
  return verdict;
}

}  // namespace satchel::tools::serve
