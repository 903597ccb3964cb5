// Who is let in over HTTP, and what they see.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>

#include "satchel/clock.h"
#include "tests/serve/jose.h"
#include "tests/serve/key_server.h"
#include "tests/support/http_client.h"
#include "tools/serve/authenticate.h"

namespace satchel::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
const std::string kIssuer = "https://issuer.example";
const std::string kAudience = "https://mem.example/mcp";

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             system_clock()->now().time_since_epoch())
      .count();
}

Json claims(const std::string& subject = "alice") {
  return {{"iss", kIssuer},
          {"aud", kAudience},
          {"sub", subject},
          {"exp", now() + 600}};
}

class HttpAuth : public HttpTest {
 protected:
  HttpAuth() : key_(SigningKey::p256("k1")) {
    write_file("keys.json", key_set({key_.jwk()}));
  }

  Words jwt_options(const std::string& keys = "") {
    return {"--jwks",     keys.empty() ? path("keys.json") : keys,
            "--issuer",   kIssuer,
            "--audience", kAudience};
  }
  std::string token(const Json& of) const {
    return key_.sign({{"alg", "ES256"}, {"kid", "k1"}}, of);
  }

  const SigningKey key_;
};

TEST_F(HttpAuth, EachWrongTokenIsRefusedWith401) {
  start(jwt_options());
  ASSERT_EQ(post(kPing, token(claims())).status, 200);
  const auto with = [&](const char* name, Json value) {
    Json changed = claims();
    changed[name] = std::move(value);
    return token(changed);
  };
  Json nobody = claims();
  nobody.erase("sub");
  const auto good = token(claims());
  const Json header = {{"alg", "HS256"}, {"kid", "k1"}};
  auto altered = good;
  altered[altered.size() / 2] = altered[altered.size() / 2] == 'A' ? 'B' : 'A';
  const std::string bad[] = {
      "",
      "x",
      "a.b.c",
      with("exp", now() - 61),
      with("nbf", now() + 120),
      with("aud", "https://other.example"),
      with("iss", "https://other.example"),
      unsigned_token({{"alg", "none"}}, claims()),
      hmac_token(header, claims(), key_.jwk().dump()),
      SigningKey::p256("k2").sign({{"alg", "ES256"}, {"kid", "k2"}}, claims()),
      SigningKey::p256("k1").sign({{"alg", "ES256"}, {"kid", "k1"}}, claims()),
      good.substr(0, good.size() - 4),
      altered,
      token(nobody),
      with("sub", "a\nb"),
      with("sub", std::string(1100, 'x'))};
  for (const auto& wrong : bad) {
    const auto answer = post(kPing, wrong);
    EXPECT_EQ(answer.status, 401) << wrong;
    EXPECT_THAT(answer.headers.at("www-authenticate"),
                HasSubstr("error=\"invalid_token\""));
    if (!wrong.empty()) {
      EXPECT_THAT(answer.body, Not(HasSubstr(wrong)));
    }
  }
  const auto done = stop();
  EXPECT_THAT(done.out, Not(HasSubstr(good.substr(0, 20))));
}

TEST_F(HttpAuth, AnothersHandleIsNotThere) {
  start(jwt_options());
  const auto made = call("state_save", {{"kind", "k"}, {"state", {{"a", 1}}}},
                         token(claims("alice")));
  ASSERT_TRUE(made.value("ok", false));
  const Json load = {{"handle", made["handle"]}};
  for (const char* other : {"bob", "alice ", "Alice", "alic", "alice|"}) {
    const auto got = call("state_load", load, token(claims(other)));
    EXPECT_EQ(got["error"]["code"], "handle_not_found") << other;
  }
  EXPECT_EQ(call("state_load", load, token(claims("alice")))["state"]["a"], 1);
  // Operators reach it under the mapped name.
  stop();
  const auto shown = object({"--user", "jwt:" + kIssuer + "|alice", "get",
                             made["handle"].get<std::string>()});
  EXPECT_EQ(shown["state"]["a"], 1);
}

TEST_F(HttpAuth, OnlyTheHeaderCountsAndOnlyOnce) {
  start(jwt_options());
  const auto good = token(claims());
  const auto status = [&](Headers headers, const std::string& query = "") {
    headers.emplace_back("Content-Type", "application/json");
    return ask("POST", "/mcp" + query, headers, kPing).status;
  };
  EXPECT_EQ(status({{"Authorization", "bearer " + good}}), 200);
  EXPECT_EQ(status({{"Authorization", "Basic " + good}}), 401);
  EXPECT_EQ(status({{"Authorization", good}}), 401);
  EXPECT_EQ(status({{"Authorization", "Bearer"}}), 401);
  EXPECT_EQ(status({{"Authorization", "Bearer " + good},
                    {"Authorization", "Bearer " + good}}),
            400);
  for (const char* name : {"access_token", "token", "id_token"}) {
    EXPECT_EQ(status({}, std::string("?") + name + '=' + good), 400);
    EXPECT_EQ(status({{"Authorization", "Bearer " + good}},
                     std::string("?a=b&") + name + '=' + good),
              400);
  }
  EXPECT_EQ(status({{"Authorization", "Bearer " + good}}, "?a=b"), 200);
  EXPECT_EQ(status({{"Mcp-Session-Id", "x"}}), 401);
}

TEST_F(HttpAuth, ScopesAreAllNeeded) {
  auto options = jwt_options();
  options.insert(options.end(),
                 {"--scope", "mem:read", "--scope", "mem:write"});
  start(options);
  const auto with = [&](const char* name, Json value) {
    Json changed = claims();
    changed[name] = std::move(value);
    return post(kPing, token(changed));
  };
  EXPECT_EQ(with("scope", "x mem:write mem:read").status, 200);
  EXPECT_EQ(with("scp", {"mem:read", "mem:write"}).status, 200);
  for (const auto& answer :
       {with("scope", "mem:read"), with("scp", Json::array()), with("x", 1)}) {
    EXPECT_EQ(answer.status, 403);
    const auto& challenge = answer.headers.at("www-authenticate");
    EXPECT_THAT(challenge, HasSubstr("error=\"insufficient_scope\""));
    EXPECT_THAT(challenge, HasSubstr("scope=\"mem:read mem:write\""));
  }
}

TEST_F(HttpAuth, MetadataIsServedWithoutAToken) {
  start(jwt_options());
  const auto challenge = post(kPing).headers.at("www-authenticate");
  EXPECT_THAT(challenge,
              HasSubstr("resource_metadata=\"https://mem.example/.well-known/"
                        "oauth-protected-resource/mcp\""));
  for (const char* rest : {"", "/mcp"}) {
    const auto answer =
        ask("GET", std::string("/.well-known/oauth-protected-resource") + rest);
    EXPECT_EQ(answer.status, 200);
    const auto json = answer.json();
    EXPECT_EQ(json["resource"], kAudience);
    EXPECT_EQ(json["authorization_servers"], Json({kIssuer}));
  }
  stop();
  start({"--allow-anonymous"});
  EXPECT_EQ(ask("GET", "/.well-known/oauth-protected-resource").status, 404);
}

TEST_F(HttpAuth, TokensFileThenJwtThenNobody) {
  const auto file = tokens_file({{{"token", "s3cret"}, {"user", "alice"}}});
  auto options = jwt_options();
  options.insert(options.end(), {"--tokens", file, "--allow-anonymous"});
  start(options);
  const auto save = [&](const std::string& by) {
    return call("state_save", {{"kind", "k"}, {"state", {{"by", by}}}}, by);
  };
  const std::string by[] = {"s3cret", token(claims("alice")), ""};
  for (const auto& who : by) save(who);
  for (const auto& who : by) {
    const auto listed = call("state_list", Json::object(), who);
    EXPECT_EQ(listed["handles"].size(), 1u);
  }
  EXPECT_EQ(post(kPing, "s3cret2").status, 401);
  stop();
  const std::string users[] = {"token:alice", "jwt:" + kIssuer + "|alice",
                               "anon:everyone"};
  for (const auto& user : users) {
    EXPECT_EQ(object({"--user", user, "list"})["handles"].size(), 1u) << user;
  }
}

TEST_F(HttpAuth, TheTokensFileIsReadAgainOnSighup) {
  tokens_file({{{"token", "old"}, {"user", "u"}}});
  start({"--tokens", path("tokens.json")});
  ASSERT_EQ(post(kPing, "old").status, 200);
  tokens_file({{{"token", "new"}, {"user", "u"}}});
  EXPECT_EQ(post(kPing, "new").status, 401);
  signal(SIGHUP);
  int tries = 0;
  while (post(kPing, "new").status != 200 && ++tries < 1000) {
  }
  EXPECT_EQ(post(kPing, "new").status, 200);
  EXPECT_EQ(post(kPing, "old").status, 401);
  // What cannot be used leaves things as they were.
  write_file("tokens.json", "{");
  signal(SIGHUP);
  EXPECT_EQ(post(kPing, "new").status, 200);
}

TEST_F(HttpAuth, AKeySetFromAUrlIsReadWhenItCan) {
  KeyServer keys;
  start(jwt_options(keys.url()));
  EXPECT_EQ(ask("GET", "/readyz").status, 503);
  EXPECT_EQ(post(kPing, token(claims())).status, 401);
  keys.serve(key_set({key_.jwk()}));
  EXPECT_EQ(post(kPing, token(claims())).status, 200);
  EXPECT_EQ(ask("GET", "/readyz").status, 200);
}

TEST_F(HttpAuth, AnUnknownKeyHasTheSetReadAgainFiveTimesAtMost) {
  KeyServer keys;
  keys.serve(key_set({key_.jwk()}));
  start(jwt_options(keys.url()));
  ASSERT_EQ(post(kPing, token(claims())).status, 200);
  const auto next = SigningKey::p256("k2");
  keys.serve(key_set({next.jwk()}));
  const auto rotated =
      next.sign({{"alg", "ES256"}, {"kid", "k2"}}, claims("alice"));
  EXPECT_EQ(post(kPing, rotated).status, 200);
  // The old key is gone with its set.
  EXPECT_EQ(post(kPing, token(claims())).status, 401);
  const auto before = keys.requests();
  const auto stranger = SigningKey::p256("k3").sign(
      {{"alg", "ES256"}, {"kid", "k3"}}, claims("alice"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(post(kPing, stranger).status, 401);
  EXPECT_LE(keys.requests() - before, 5);
  EXPECT_GE(keys.requests() - before, 1);
  EXPECT_EQ(post(kPing, rotated).status, 200);
}

TEST_F(HttpAuth, ByClientOnlyTheClientThatMadeItSeesIt) {
  auto options = jwt_options();
  options.insert(options.end(), {"--scope-by", "user+client"});
  start(options);
  const auto of = [&](const char* name, const char* client) {
    Json changed = claims();
    changed[name] = client;
    return token(changed);
  };
  const auto made = call("state_save", {{"kind", "k"}, {"state", {{"a", 1}}}},
                         of("client_id", "editor"));
  const Json load = {{"handle", made["handle"]}};
  EXPECT_EQ(call("state_load", load, of("azp", "editor"))["state"]["a"], 1);
  EXPECT_EQ(call("state_load", load, of("client_id", "other"))["error"]["code"],
            "handle_not_found");
  EXPECT_EQ(post(kPing, token(claims())).status, 401);
}

TEST_F(HttpAuth, TheStateWireNeedsAKnownUserAndApp) {
  const auto file = tokens_file({{{"token", "t"}, {"user", "u"}, {"app", "m"}},
                                 {{"token", "n"}, {"user", "u"}}});
  auto options = jwt_options();
  options.insert(options.end(), {"--tokens", file, "--allow-anonymous"});
  start(options);
  const Json set = {{"key", "a"}, {"value", {1, 2}}, {"ttl", 60}};
  EXPECT_EQ(kv("set", set, "u", "m", "t").json(), Json::object());
  EXPECT_EQ(kv("get", {{"key", "a"}}, "u", "m", "t").json()["result"],
            Json({1, 2}));
  const auto app = tools::serve::app_of_audience(kAudience);
  EXPECT_EQ(kv("get", {{"key", "a"}}, "alice", app, token(claims())).status,
            200);
  for (const char* bad : {"", "wrong"}) {
    const auto answer = kv("get", {{"key", "a"}}, "u", "m", bad);
    EXPECT_EQ(answer.status, 401);
    EXPECT_EQ(answer.json()["code"], "UNAUTHENTICATED");
  }
  EXPECT_EQ(kv("get", {{"key", "a"}}, "u", "m", "n").status, 403);
  EXPECT_EQ(kv("get", {{"key", "a"}}, "v", "m", "t").status, 403);
  EXPECT_EQ(kv("get", {{"key", "a"}}, "u", "x", "t").json()["code"],
            "INVALID_CONTEXT");
  EXPECT_EQ(kv("nope", {{"key", "a"}}, "u", "m", "t").json()["code"],
            "INVALID_ARGUMENT");
}

TEST_F(HttpAuth, RefusalsAreAudited) {
  auto options = jwt_options();
  options.insert(options.end(), {"--audit-log", path("audit")});
  start(options);
  post(kPing, "secret-token-of-nobody");
  kv("get", {{"key", "a"}}, "u", "m", "secret-token-of-nobody");
  stop();
  const auto log = read_file(path("audit"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
  EXPECT_THAT(log, HasSubstr("\"unauthenticated\""));
  EXPECT_THAT(log, HasSubstr("\"kv.get\""));
  EXPECT_THAT(log, Not(HasSubstr("secret-token")));
}

}  // namespace
}  // namespace satchel::test
