#include "tools/serve/hosts.h"

#include <arpa/inet.h>

#include <algorithm>

namespace satchel::tools::serve {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_host_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.' ||
         c == '_';
}

bool is_ipv6(const std::string& bracketed) {
  in6_addr address;
  const auto inner = bracketed.substr(1, bracketed.size() - 2);
  return ::inet_pton(AF_INET6, inner.c_str(), &address) == 1;
}

}  // namespace

std::optional<Authority> parse_authority(std::string_view text) {
  Authority out;
  const auto colon =
      text.starts_with('[') ? text.find(':', text.find(']')) : text.find(':');
  out.host = lower(text.substr(0, colon));
  if (colon != text.npos) {
    out.port = text.substr(colon + 1);
    if (out.port.empty() || out.port.size() > 5 ||
        !std::all_of(out.port.begin(), out.port.end(), is_digit)) {
      return {};
    }
  }
  if (out.host.empty()) return {};
  if (out.host.front() == '[') {
    if (out.host.size() < 4 || out.host.back() != ']' || !is_ipv6(out.host)) {
      return {};
    }
  } else if (!std::all_of(out.host.begin(), out.host.end(),
                          is_host_character)) {
    return {};
  }
  return out;
}

bool is_loopback_name(std::string_view host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address;
  return ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 &&
         (ntohl(address.s_addr) >> 24) == 127;
}

std::string Origin::text() const {
  const bool usual = authority.port.empty() ||
                     authority.port == (scheme == "https" ? "443" : "80");
  return scheme + "://" + authority.host + (usual ? "" : ':' + authority.port);
}

std::optional<Origin> parse_origin(std::string_view text) {
  const auto mark = text.find("://");
  if (mark == text.npos) return {};
  Origin out;
  out.scheme = lower(text.substr(0, mark));
  if (out.scheme != "http" && out.scheme != "https") return {};
  const auto rest = text.substr(mark + 3);
  const auto slash = rest.find('/');
  const auto authority = parse_authority(rest.substr(0, slash));
  if (!authority) return {};
  out.authority = *authority;
  if (slash != rest.npos) out.path = rest.substr(slash);
  return out;
}

}  // namespace satchel::tools::serve
