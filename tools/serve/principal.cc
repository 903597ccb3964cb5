#include "tools/serve/principal.h"

#include <string_view>

#include "api/utf8.h"

namespace satchel::tools::serve {
namespace {

constexpr std::size_t kMaxUserBytes = 1024;
constexpr std::string_view kPrefixes[] = {"jwt:", "token:", "anon:"};

/// `part` without the separator, so that the parts can be told apart again.
std::string escaped(std::string_view part) {
  std::string out;
  for (const char c : part) {
    if (c == '%') {
      out += "%25";
    } else if (c == '|') {
      out += "%7C";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> storage_user(const Principal& principal,
                                        ScopeBy scope_by) {
  std::string user;
  switch (principal.source) {
    case Principal::Source::jwt:
      if (principal.issuer.empty() || principal.name.empty()) return {};
      user = "jwt:" + escaped(principal.issuer) + '|' + escaped(principal.name);
      break;
    case Principal::Source::token:
      if (principal.name.empty()) return {};
      user = "token:" + escaped(principal.name);
      break;
    case Principal::Source::anonymous:
      user = "anon:everyone";
      break;
  }
  if (scope_by == ScopeBy::user_and_client) {
    if (principal.client.empty()) return {};
    user += '|' + escaped(principal.client);
  }
  if (user.size() > kMaxUserBytes || !is_utf8(user) ||
      has_control_character(user)) {
    return {};
  }
  return user;
}

bool is_reserved_user(const std::string& user) {
  for (const auto prefix : kPrefixes) {
    if (user.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace satchel::tools::serve
