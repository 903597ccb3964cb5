#include "tools/serve/authenticate.h"

#include <algorithm>
#include <utility>

#include "satchel/clock.h"
#include "satchel/error.h"
#include "tools/output.h"
#include "tools/serve/digest.h"
#include "tools/serve/hosts.h"
#include "tools/serve/jwt.h"

namespace satchel::tools::serve {
namespace {

Error refused_start(const std::string& message) {
  return {ErrorCode::invalid_input, message, {{"field", "arguments"}}};
}

AuthSettings checked(AuthSettings settings) {
  if (settings.tokens.empty() && settings.jwks.empty() &&
      !settings.allow_anonymous) {
    throw refused_start(
        "on HTTP the server must know who calls: give --tokens FILE, --jwks "
        "FILE|URL (with --issuer and --audience) or --allow-anonymous");
  }
  if (!settings.jwks.empty() &&
      (settings.issuer.empty() || settings.audience.empty())) {
    throw refused_start(
        "--jwks needs --issuer and --audience: whose tokens are believed, and "
        "what they must be meant for");
  }
  return settings;
}

/// The token of "Bearer TOKEN"; none for anything else.
std::optional<std::string_view> bearer_token(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() <= kScheme.size()) return {};
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = header[i];
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if (lower != kScheme[i]) return {};
  }
  header.remove_prefix(kScheme.size());
  const auto begin = header.find_first_not_of(' ');
  if (begin == header.npos) return {};
  header.remove_prefix(begin);
  const auto good = [](char c) { return c > ' ' && c < 0x7f; };
  if (!std::all_of(header.begin(), header.end(), good)) return {};
  return header;
}

AuthRefusal invalid_token(const std::string& description) {
  return {401, "invalid_token", description};
}

}  // namespace

std::string app_of_audience(const std::string& audience) {
  std::string text = audience;
  if (const auto origin = parse_origin(audience)) {
    const auto& port = origin->authority.port;
    text = origin->scheme + "://" + origin->authority.host +
           (port.empty() ? "" : ':' + port) + origin->path;
  }
  while (text.ends_with('/')) text.pop_back();
  return "mcp_" + hex(sha256(text)).substr(0, 32);
}

Authenticator::Authenticator(AuthSettings settings)
    : settings_(checked(std::move(settings))),
      audience_app_(settings_.audience.empty()
                        ? ""
                        : app_of_audience(settings_.audience)) {
  if (!settings_.tokens.empty()) {
    tokens_ = std::make_unique<TokenFile>(settings_.tokens);
  }
  if (!settings_.jwks.empty()) {
    keys_ = std::make_unique<KeySource>(settings_.jwks);
  }
}

AuthOutcome Authenticator::authenticate(
    const std::vector<std::string_view>& authorization, bool again) const {
  if (authorization.empty()) {
    if (!settings_.allow_anonymous) {
      return invalid_token("a bearer token is needed");
    }
    return admit({Principal::Source::anonymous, "", "", ""}, {}, "");
  }
  if (authorization.size() > 1) {
    return AuthRefusal{400, "invalid_request",
                       "there is more than one Authorization header"};
  }
  const auto token = bearer_token(authorization[0]);
  if (!token) {
    return invalid_token("the Authorization header holds no bearer token");
  }
  return by_token(*token, again);
}

AuthOutcome Authenticator::by_token(std::string_view token, bool again) const {
  if (tokens_) {
    if (const auto entry = tokens_->find(token)) {
      return admit({Principal::Source::token, "", entry->user, entry->client},
                   entry->scopes, entry->app);
    }
  }
  if (!keys_) return invalid_token("the token is not known");
  try {
    const Jwt jwt = parse_jwt(token);
    check_claims(jwt, {settings_.issuer, settings_.audience},
                 system_clock()->now());
    const auto keys = keys_->keys();
    const auto verdict =
        keys ? keys->verify(jwt) : KeySet::Verdict::unknown_key;
    switch (verdict) {
      case KeySet::Verdict::proven:
        return admit(
            {Principal::Source::jwt, jwt.issuer, jwt.subject, jwt.client},
            jwt.scopes, audience_app_);
      case KeySet::Verdict::unknown_key:
        if (!again) return NeedsKeys{};
        return invalid_token(
            "the token is signed with a key that is not known");
      case KeySet::Verdict::ambiguous:
        return invalid_token("the token does not say which key signed it");
      case KeySet::Verdict::forged:
        break;
    }
    return invalid_token("the token's signature is not right");
  } catch (const TokenRefused& refused) {
    return invalid_token("the token is not accepted: " + refused.why);
  }
}

AuthOutcome Authenticator::admit(const Principal& principal,
                                 const std::vector<std::string>& scopes,
                                 const std::string& app) const {
  const bool anonymous = principal.source == Principal::Source::anonymous;
  for (const auto& needed : settings_.scopes) {
    if (anonymous) break;
    if (std::find(scopes.begin(), scopes.end(), needed) == scopes.end()) {
      return AuthRefusal{403, "insufficient_scope",
                         "the token lacks a scope that is needed here"};
    }
  }
  if (settings_.scope_by == ScopeBy::user_and_client &&
      principal.client.empty()) {
    return invalid_token(
        "state is kept by client here and the token names no client");
  }
  const auto user = storage_user(principal, settings_.scope_by);
  if (!user) {
    return invalid_token("the token's subject cannot be a user of this store");
  }
  Caller caller;
  caller.user = *user;
  caller.client = principal.client;
  caller.writer =
      settings_.writer.empty() ? principal.client : settings_.writer;
  caller.wire_user = principal.name;
  caller.app = app;
  caller.http = true;
  return caller;
}

bool Authenticator::refresh_keys(std::function<void()> done) {
  return keys_ && keys_->refresh(std::move(done));
}

void Authenticator::reload() {
  if (tokens_) {
    try {
      tokens_->reload();
    } catch (const std::exception& error) {
      warn(std::string(error.what()) + "; the tokens stay as they were");
    }
  }
  if (keys_) keys_->reload();
}

bool Authenticator::ready() const { return !keys_ || keys_->keys(); }

}  // namespace satchel::tools::serve
