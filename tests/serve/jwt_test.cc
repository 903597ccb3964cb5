// Which tokens are believed, and which are not.

#include <gmock/gmock.h>

#include <chrono>

#include "satchel/error.h"
#include "tests/serve/jose.h"
#include "tools/serve/jwks.h"
#include "tools/serve/jwt.h"

namespace satchel::test {
namespace {

using tools::serve::JwtRules;
using tools::serve::KeySet;
using tools::serve::parse_jwt;
using tools::serve::TokenRefused;
using Verdict = KeySet::Verdict;
using testing::HasSubstr;

const Time kNow{std::chrono::seconds(1'800'000'000)};
const JwtRules kRules{"https://issuer.example", "https://mem.example/mcp"};

Json good_claims() {
  return {{"iss", kRules.issuer},  {"aud", kRules.audience},
          {"sub", "alice"},        {"exp", 1'800'000'600},
          {"client_id", "editor"}, {"scope", "read write"}};
}

Json claims_with(const char* name, Json value) {
  Json claims = good_claims();
  claims[name] = std::move(value);
  return claims;
}

Json claims_without(const char* name) {
  Json claims = good_claims();
  claims.erase(name);
  return claims;
}

const SigningKey& rsa_key() {
  static const auto key = SigningKey::rsa("r");
  return key;
}
const SigningKey& p256_key() {
  static const auto key = SigningKey::p256("e");
  return key;
}

const KeySet& both_keys() {
  static const KeySet keys(key_set({rsa_key().jwk(), p256_key().jwk()}));
  return keys;
}

/// "" when the token is good, else why not.
std::string judged(const std::string& token, const KeySet& keys = both_keys()) {
  try {
    const auto jwt = parse_jwt(token);
    check_claims(jwt, kRules, kNow);
    switch (keys.verify(jwt)) {
      case Verdict::proven:
        return "";
      case Verdict::forged:
        return "forged";
      case Verdict::unknown_key:
        return "unknown key";
      case Verdict::ambiguous:
        return "ambiguous";
    }
  } catch (const TokenRefused& refused) {
    return refused.why;
  }
  return "?";
}

std::string signed_with(const Json& header, const Json& claims) {
  const bool rsa = header["alg"].get<std::string>()[0] != 'E';
  return (rsa ? rsa_key() : p256_key()).sign(header, claims);
}

TEST(Jwt, EachAlgorithmOfAKeysTypeIsAccepted) {
  for (const char* alg :
       {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}) {
    EXPECT_EQ(judged(signed_with({{"alg", alg}, {"kid", "r"}}, good_claims())),
              "")
        << alg;
  }
  EXPECT_EQ(
      judged(signed_with({{"alg", "ES256"}, {"kid", "e"}}, good_claims())), "");
}

TEST(Jwt, ReadsWhoAndWhat) {
  const auto jwt = parse_jwt(signed_with({{"alg", "ES256"}}, good_claims()));
  EXPECT_EQ(jwt.subject, "alice");
  EXPECT_EQ(jwt.client, "editor");
  EXPECT_THAT(jwt.scopes, testing::ElementsAre("read", "write"));
  Json other = claims_without("client_id");
  other.erase("scope");
  other["azp"] = "app";
  other["scp"] = {"a", "b c"};
  const auto second = parse_jwt(signed_with({{"alg", "ES256"}}, other));
  EXPECT_EQ(second.client, "app");
  EXPECT_THAT(second.scopes, testing::ElementsAre("a", "b", "c"));
}

struct Refused {
  const char* what;
  Json header;
  Json claims;
  const char* why;
};

TEST(Jwt, WrongClaimsAndHeadersAreRefused) {
  const Json es = {{"alg", "ES256"}, {"kid", "e"}};
  const auto with = [&](const char* name, Json value) {
    Json header = es;
    header[name] = std::move(value);
    return header;
  };
  const Refused cases[] = {
      {"expired", es, claims_with("exp", 1'799'999'940), "expired"},
      {"not yet", es, claims_with("nbf", 1'800'000'061), "not valid yet"},
      {"no exp", es, claims_without("exp"), "no exp"},
      {"exp text", es, claims_with("exp", "1800000600"), "exp"},
      {"exp true", es, claims_with("exp", true), "exp"},
      {"no sub", es, claims_without("sub"), "no sub"},
      {"empty sub", es, claims_with("sub", ""), "no sub"},
      {"sub number", es, claims_with("sub", 7), "sub"},
      {"no iss", es, claims_without("iss"), "no iss"},
      {"iss", es, claims_with("iss", "https://issuer.example/"), "issuer"},
      {"iss case", es, claims_with("iss", "https://ISSUER.example"), "issuer"},
      {"no aud", es, claims_without("aud"), "no aud"},
      {"aud", es, claims_with("aud", "https://mem.example"), "audience"},
      {"aud slash", es, claims_with("aud", kRules.audience + "/"), "audience"},
      {"aud empty", es, claims_with("aud", Json::array()), "audience"},
      {"aud mixed", es, claims_with("aud", {kRules.audience, 1}), "aud"},
      {"crit", with("crit", {"exp"}), good_claims(), "critical"},
      {"typ", with("typ", "dpop+jwt"), good_claims(), "typ"},
      {"kid list", with("kid", {3}), good_claims(), "kid"},
      {"unknown kid", with("kid", "zz"), good_claims(), "unknown key"},
      {"kid of another type", with("kid", "r"), good_claims(), "forged"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(judged(p256_key().sign(c.header, c.claims)), HasSubstr(c.why))
        << c.what;
  }
}

TEST(Jwt, AMinuteOfLeewayCountsBothWays) {
  const Json es = {{"alg", "ES256"}, {"kid", "e"}};
  const auto token = [&](const char* name, Json value) {
    return p256_key().sign(es, claims_with(name, std::move(value)));
  };
  EXPECT_EQ(judged(token("exp", 1'799'999'941)), "");
  EXPECT_EQ(judged(token("nbf", 1'800'000'060)), "");
  EXPECT_EQ(judged(token("exp", 1'799'999'940.5)), "");
}

TEST(Jwt, AnyElementOfAudSuffices) {
  EXPECT_EQ(
      judged(p256_key().sign({{"alg", "ES256"}, {"kid", "e"}},
                             claims_with("aud", {"account", kRules.audience}))),
      "");
}

TEST(Jwt, TypeIsAtJwtOrJwtOrAbsent) {
  for (const char* type : {"at+jwt", "JWT", "application/at+jwt"}) {
    EXPECT_EQ(
        judged(p256_key().sign({{"alg", "ES256"}, {"kid", "e"}, {"typ", type}},
                               good_claims())),
        "")
        << type;
  }
}

TEST(Jwt, UnsignedAndHmacTokensAreRefused) {
  EXPECT_THAT(judged(unsigned_token({{"alg", "none"}}, good_claims())),
              HasSubstr("signature"));
  for (const char* alg : {"none", "None", "HS256", "EdDSA", ""}) {
    EXPECT_NE(judged(unsigned_token({{"alg", alg}, {"kid", "r"}}, good_claims(),
                                    "AAAA")),
              "")
        << alg;
  }
  // The public key as the secret: what a verifier falls for that lets the
  // token choose.
  EXPECT_THAT(judged(hmac_token({{"alg", "HS256"}, {"kid", "r"}}, good_claims(),
                                rsa_key().jwk()["n"].get<std::string>())),
              HasSubstr("algorithm"));
}

TEST(Jwt, TruncatedAndAlteredTokensAreRefused) {
  const auto token =
      p256_key().sign({{"alg", "ES256"}, {"kid", "e"}}, good_claims());
  ASSERT_EQ(judged(token), "");
  int visited = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    auto altered = token;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    EXPECT_NE(judged(altered), "") << i;
    EXPECT_NE(judged(token.substr(0, i)), "") << i;
    ++visited;
  }
  EXPECT_GT(visited, 200);
  EXPECT_NE(judged(token + "A"), "");
  EXPECT_NE(judged(token + "="), "");
  EXPECT_NE(judged(token + ".x"), "");
}

TEST(Jwt, MembersThatStandTwiceAreRefused) {
  const auto header = base64url(R"({"alg":"none","alg":"ES256"})");
  EXPECT_NE(judged(header + '.' + base64url(good_claims().dump()) + ".AAAA"),
            "");
}

TEST(KeySets, ATokenWithoutKidNeedsASetOfOneKey) {
  const auto token = p256_key().sign({{"alg", "ES256"}}, good_claims());
  EXPECT_EQ(judged(token), "ambiguous");
  EXPECT_EQ(judged(token, KeySet(key_set({p256_key().jwk()}))), "");
}

TEST(KeySets, AlgAndUseOfAKeyBind) {
  const Json header = {{"alg", "RS256"}, {"kid", "r"}};
  const auto token = rsa_key().sign(header, good_claims());
  const auto with = [&](const Json& more) {
    return judged(token, KeySet(key_set({rsa_key().jwk(more)})));
  };
  EXPECT_EQ(with({{"alg", "RS256"}, {"use", "sig"}}), "");
  EXPECT_EQ(with({{"alg", "PS256"}}), "forged");
  EXPECT_EQ(with({{"use", "enc"}}), "unknown key");
  EXPECT_EQ(with({{"key_ops", {"encrypt"}}}), "unknown key");
  EXPECT_EQ(with({{"key_ops", {"verify"}}}), "");
}

TEST(KeySets, TheCurveFixesTheAlgorithm) {
  const auto key = SigningKey::p384("c");
  const KeySet keys(key_set({key.jwk()}));
  EXPECT_EQ(
      judged(key.sign({{"alg", "ES384"}, {"kid", "c"}}, good_claims()), keys),
      "");
  EXPECT_EQ(
      judged(p256_key().sign({{"alg", "ES256"}, {"kid", "c"}}, good_claims()),
             keys),
      "forged");
}

TEST(KeySets, SymmetricAndShortKeysAreLeftOut) {
  const auto small = SigningKey::rsa("s", 1024);
  const Json secret = {{"kty", "oct"}, {"k", "c2VjcmV0"}, {"kid", "o"}};
  const KeySet keys(key_set({small.jwk(), secret}));
  EXPECT_EQ(
      judged(small.sign({{"alg", "RS256"}, {"kid", "s"}}, good_claims()), keys),
      "unknown key");
  EXPECT_NE(judged(hmac_token({{"alg", "HS256"}, {"kid", "o"}}, good_claims(),
                              "secret"),
                   keys),
            "");
}

TEST(KeySets, AnOddKeyDoesNotShutTheOthersOut) {
  const KeySet keys(key_set({{{"kty", "RSA"}, {"n", "!"}, {"e", "AQAB"}},
                             {{"kty", 7}},
                             p256_key().jwk({{"kid", "e"}})}));
  EXPECT_EQ(
      judged(p256_key().sign({{"alg", "ES256"}, {"kid", "e"}}, good_claims()),
             keys),
      "");
}

TEST(KeySets, WhatIsNoSetIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":[1]})",
                           R"({"keys":[],"keys":[]})",
                           R"({"keys":[{"kty":"RSA","n":"!","e":"AQAB"}]})"}) {
    EXPECT_THROW(KeySet{std::string_view(text)}, Error) << text;
  }
}

}  // namespace
}  // namespace satchel::test
