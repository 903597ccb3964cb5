#include "tools/escape.h"

#include <wchar.h>

#include <array>
#include <cstdint>
#include <cstdio>

namespace satchel::tools {
namespace {

constexpr char32_t kInvalid = 0xffffffff;

/// Takes one code point off the front; kInvalid (one byte taken) when the
/// bytes are no UTF-8.
char32_t next(std::string_view* text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint8_t>((*text)[i]);
  };
  const std::uint8_t lead = byte(0);
  const std::size_t length = lead < 0x80           ? 1
                             : (lead >> 5) == 0x6  ? 2
                             : (lead >> 4) == 0xe  ? 3
                             : (lead >> 3) == 0x1e ? 4
                                                   : 0;
  char32_t point = length == 1 ? lead : lead & (0x7fu >> length);
  bool valid = length != 0 && length <= text->size();
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) >> 6) == 2;
    point = (point << 6) | (byte(i) & 0x3fu);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  valid = valid && point >= kSmallest[length] && point <= 0x10ffff &&
          (point < 0xd800 || point > 0xdfff);
  text->remove_prefix(valid ? length : 1);
  return valid ? point : kInvalid;
}

bool is_unsafe(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e ||
         c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x206f) || c == 0xfeff;
}

}  // namespace

std::string escaped(std::string_view text, bool keep_newlines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = next(&text);
    if (c == kInvalid) {
      out += "\xef\xbf\xbd";
    } else if (is_unsafe(c) && !(keep_newlines && c == '\n')) {
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\u%04x",
                    static_cast<unsigned>(c & 0xffff));
      out += code.data();
    } else {
      out += before.substr(0, before.size() - text.size());
    }
  }
  return out;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const char32_t c = next(&text);
    const int columns = c < 0x80 ? 1 : ::wcwidth(static_cast<wchar_t>(c));
    width += columns < 0 ? 1 : static_cast<std::size_t>(columns);
  }
  return width;
}

std::string fitted(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    std::string_view rest = text;
    next(&rest);
    const std::string_view one = text.substr(0, text.size() - rest.size());
    used += width_of(one);
    if (used > columns - 1) break;
    out += one;
    text = rest;
  }
  return out + "…";
}

}  // namespace satchel::tools
