#include "api/utf8.h"

#include <simdjson.h>

#include <cstddef>

namespace satchel {

bool is_utf8(std::string_view s) noexcept {
  return simdjson::validate_utf8(s.data(), s.size());
}

bool has_control_character(std::string_view s) noexcept {
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c < 0x20 || c == 0x7f) return true;
    // U+0080 to U+009F are C2 80 to C2 9F.
    if (c == 0xc2 && i + 1 < s.size() &&
        static_cast<unsigned char>(s[i + 1]) <= 0x9f) {
      return true;
    }
  }
  return false;
}

bool has_white_space(std::string_view s) noexcept {
  constexpr std::string_view kSpaces[] = {
      " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085",
      "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
      "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
      "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff"};
  for (const auto space : kSpaces) {
    if (s.find(space) != s.npos) return true;
  }
  return false;
}

}  // namespace satchel
