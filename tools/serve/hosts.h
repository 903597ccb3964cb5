#pragma once
// Names of hosts as they stand in Host and Origin headers and in URLs.

#include <optional>
#include <string>
#include <string_view>

namespace satchel::tools::serve {

struct Authority {
  /// Lower-case; an IPv6 address in its brackets.
  std::string host;
  /// Digits, "" when there is none.
  std::string port;
};

/// host[:port]; none when there is anything else in it.
std::optional<Authority> parse_authority(std::string_view text);

/// localhost, 127.x.y.z and [::1], as parse_authority writes them.
bool is_loopback_name(std::string_view host);

struct Origin {
  /// Lower-case.
  std::string scheme;
  Authority authority;
  /// From "/" on, "" when there is none.
  std::string path;

  /// scheme://host[:port], without the scheme's usual port.
  std::string text() const;
};

/// scheme://host[:port][/path] of http and https; none for anything else.
std::optional<Origin> parse_origin(std::string_view text);

}  // namespace satchel::tools::serve
