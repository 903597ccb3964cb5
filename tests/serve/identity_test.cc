// Names of users, tokens files, hosts: the pieces that identity rests on.

#include <gmock/gmock.h>

#include <set>

#include "satchel/error.h"
#include "tests/serve/jose.h"
#include "tools/serve/authenticate.h"
#include "tools/serve/digest.h"
#include "tools/serve/hosts.h"
#include "tools/serve/http_rules.h"
#include "tools/serve/jwks_source.h"
#include "tools/serve/principal.h"
#include "tools/serve/tokens.h"

namespace satchel::tools::serve {
namespace {

using Source = Principal::Source;
using namespace std::chrono_literals;

std::string jwt_user(const std::string& issuer, const std::string& subject) {
  return storage_user({Source::jwt, issuer, subject, ""}, ScopeBy::user)
      .value_or("none");
}

TEST(Principals, PairsBuiltToCollideDoNot) {
  const std::string parts[] = {"a",    "a|",   "|a",  "a|b",  "b", "a%7Cb",
                               "a%7C", "%7Ca", "a%",  "%25",  "%", "|",
                               "||",   "%7C",  "a%7", "jwt:", "A", "a "};
  std::set<std::string> users;
  int pairs = 0;
  for (const auto& issuer : parts) {
    for (const auto& subject : parts) {
      ++pairs;
      users.insert(jwt_user(issuer, subject));
      users.insert(storage_user({Source::jwt, issuer, subject, "c"},
                                ScopeBy::user_and_client)
                       .value_or("none"));
    }
    users.insert(storage_user({Source::token, "", issuer, ""}, ScopeBy::user)
                     .value_or("none"));
  }
  users.insert(*storage_user({}, ScopeBy::user));
  EXPECT_EQ(users.size(), 2 * pairs + std::size(parts) + 1);
  for (const auto& user : users) EXPECT_TRUE(is_reserved_user(user)) << user;
  EXPECT_FALSE(is_reserved_user("local"));
}

TEST(Principals, WhatCannotBeAUserIsRefusedNotShortened) {
  EXPECT_EQ(jwt_user("i", std::string(2000, 'x')), "none");
  EXPECT_EQ(jwt_user("i", "a\nb"), "none");
  EXPECT_EQ(jwt_user("i", std::string("a\0b", 3)), "none");
  EXPECT_EQ(jwt_user("i", "\xc2\x85"), "none");
  EXPECT_EQ(jwt_user("i", "\xff"), "none");
  EXPECT_EQ(jwt_user("i", ""), "none");
  EXPECT_EQ(storage_user({Source::jwt, "i", "s", ""}, ScopeBy::user_and_client),
            std::nullopt);
  const std::string longest(1024 - 6, 'x');
  EXPECT_EQ(jwt_user("i", longest), "jwt:i|" + longest);
  EXPECT_EQ(jwt_user("i", longest + 'x'), "none");
}

std::string tokens_text(const std::string& members) {
  return R"({"tokens":[{"sha256":")" + std::string(64, 'a') + "\"" + members +
         "}]}";
}

TEST(TokensFile, ReadsEntries) {
  const auto entries = parse_tokens(
      tokens_text(R"(,"user":"u","app":"mcp_1","client":"c","scopes":["a"])"));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].user, "u");
  EXPECT_EQ(entries[0].app, "mcp_1");
  EXPECT_EQ(entries[0].client, "c");
  EXPECT_THAT(entries[0].scopes, testing::ElementsAre("a"));
}

TEST(TokensFile, AnythingElseIsRefused) {
  const std::string bad[] = {"",
                             "[]",
                             "{}",
                             R"({"tokens":{}})",
                             R"({"tokens":[1]})",
                             R"({"tokens":[],"more":1})",
                             R"({"tokens":[{"user":"u"}]})",
                             R"({"tokens":[{"sha256":"aa","user":"u"}]})",
                             tokens_text(""),
                             tokens_text(R"(,"user":"")"),
                             tokens_text(R"(,"user":7)"),
                             tokens_text(R"(,"user":"u\n")"),
                             tokens_text(R"(,"user":"u","token":"secret")"),
                             tokens_text(R"(,"user":"u","scopes":"a")"),
                             tokens_text(R"(,"user":"u","scopes":[1])"),
                             tokens_text(R"(,"user":"u","user":"v")")};
  for (const auto& text : bad) EXPECT_THROW(parse_tokens(text), Error) << text;
}

TEST(Digests, Base64UrlHasOneSpelling) {
  EXPECT_EQ(from_base64url("AAEC"), std::string("\0\1\2", 3));
  EXPECT_EQ(from_base64url("-_8"), "\xfb\xff");
  for (const char* bad : {"A", "AB", "AAEC=", "+/8", "A A", "-_9"}) {
    EXPECT_EQ(from_base64url(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(from_base64("c3RhdGVfc2F2ZQ=="), "state_save");
  EXPECT_EQ(from_base64("c3RhdGVfc2F2ZQ"), "state_save");
  EXPECT_EQ(from_base64("%%%"), std::nullopt);
}

TEST(Hosts, AuthoritiesAreReadStrictly) {
  EXPECT_EQ(parse_authority("LocalHost:80")->host, "localhost");
  EXPECT_EQ(parse_authority("[::1]:8000")->host, "[::1]");
  for (const char* bad : {"", ":80", "a:", "a:b", "a@b", "a/b", "[::1", "[x]",
                          "a:123456", "a b", "a:80:90"}) {
    EXPECT_EQ(parse_authority(bad), std::nullopt) << bad;
  }
  for (const char* name : {"localhost", "127.0.0.1", "127.9.9.9", "[::1]"}) {
    EXPECT_TRUE(is_loopback_name(name)) << name;
  }
  for (const char* name : {"localhost.attacker.example", "128.0.0.1",
                           "127.0.0.1.nip.io", "0.0.0.0", "localhost."}) {
    EXPECT_FALSE(is_loopback_name(name)) << name;
  }
}

TEST(Hosts, AppOfAnAudienceIgnoresCaseOfItsHostAndAnEndingSlash) {
  const auto app = app_of_audience("https://mem.example/mcp");
  EXPECT_EQ(app.size(), 36u);
  EXPECT_EQ(app.substr(4),
            hex(sha256("https://mem.example/mcp")).substr(0, 32));
  EXPECT_EQ(app_of_audience("HTTPS://Mem.Example/mcp/"), app);
  EXPECT_NE(app_of_audience("https://mem.example/MCP"), app);
}

TEST(Queries, TokensInThemAreSeen) {
  for (const char* query : {"access_token=x", "a=b&token=x", "id_token",
                            "access%5Ftoken=1", "a;token=1", "TOKEN=1"}) {
    EXPECT_TRUE(has_token_in_query(query)) << query;
  }
  for (const char* query : {"", "a=token", "tokens=1", "my_access_token=1"}) {
    EXPECT_FALSE(has_token_in_query(query)) << query;
  }
}

TEST(RateLimits, FiveAtOnceThenOneInTenSeconds) {
  RateLimit limit(5, 10s);
  const auto taken = [&](std::chrono::microseconds now) {
    int count = 0;
    while (limit.take(now)) ++count;
    return count;
  };
  EXPECT_EQ(taken(100s), 5);
  EXPECT_EQ(taken(109s), 0);
  EXPECT_EQ(taken(110s), 1);
  EXPECT_EQ(taken(135s), 2);
  EXPECT_EQ(taken(139s), 0);
  EXPECT_EQ(taken(1000s), 5);
}

}  // namespace
}  // namespace satchel::tools::serve
