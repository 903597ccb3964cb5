#pragma once
// Who a request was proven to come from, and under which name the store keeps
// what is theirs.

#include <optional>
#include <string>

namespace satchel::tools::serve {

struct Principal {
  enum class Source { jwt, token, anonymous };
  Source source = Source::anonymous;
  /// jwt: the token's iss; otherwise "".
  std::string issuer;
  /// jwt: the token's sub; token: the file's user; otherwise "".
  std::string name;
  /// The client that the token names; "" when it names none.
  std::string client;
};

/// Whose state a principal sees (--scope-by).
enum class ScopeBy { user, user_and_client };

/// The one mapping from a principal to a user of the store:
///   jwt:ISS|SUB   token:USER   anon:everyone
/// and with user_and_client "|CLIENT" at the end, where '%' and '|' within a
/// part are %25 and %7C. Different principals get different names, and no name
/// that SATCHEL_USER may hold begins like one. None when the principal cannot
/// have a name: an empty part, over 1,024 bytes, control characters, text that
/// is not UTF-8.
std::optional<std::string> storage_user(const Principal& principal,
                                        ScopeBy scope_by);

/// Whether `user` begins with a prefix that only storage_user gives.
bool is_reserved_user(const std::string& user);

}  // namespace satchel::tools::serve
