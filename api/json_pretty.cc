#include "satchel/document.h"

namespace satchel {
namespace {

// The end of the string literal that begins at `begin`.
std::size_t string_end(std::string_view text, std::size_t begin) {
  std::size_t i = begin + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

void new_line(std::size_t level, std::string* out) {
  out->push_back('\n');
  out->append(level * 2, ' ');
}

}  // namespace

std::string pretty(const Document& document) {
  const std::string_view text = document.text();
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  std::size_t level = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '"') {
      const std::size_t end = string_end(text, i);
      out.append(text, i, end - i);
      i = end - 1;
    } else if ((c == '{' && next == '}') || (c == '[' && next == ']')) {
      out.push_back(c);
      out.push_back(next);
      ++i;
    } else if (c == '{' || c == '[') {
      out.push_back(c);
      new_line(++level, &out);
    } else if (c == '}' || c == ']') {
      new_line(--level, &out);
      out.push_back(c);
    } else if (c == ',') {
      out.push_back(c);
      new_line(level, &out);
    } else if (c == ':') {
      out += ": ";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace satchel
