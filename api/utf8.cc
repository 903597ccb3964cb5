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

}  // namespace satchel
