#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>

#include "layers.h"

namespace satchel::repo {
namespace {

void blank(std::string& text, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < std::min(to, text.size()); ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

std::size_t after(const std::string& text, const std::string& what,
                  std::size_t from) {
  const auto at = text.find(what, from);
  return at == std::string::npos ? text.size() : at + what.size();
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The end of the literal that begins at text[i], a quote.
std::size_t literal_end(const std::string& text, std::size_t i) {
  if (text[i] == '"' && i > 0 && text[i - 1] == 'R') {
    const auto open = text.find('(', i);
    if (open == std::string::npos) return text.size();
    return after(text, ")" + text.substr(i + 1, open - i - 1) + "\"", open);
  }
  std::size_t end = i + 1;
  while (end < text.size() && text[end] != text[i] && text[end] != '\n') {
    end += text[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, text.size());
}

}  // namespace

std::string strip(const std::string& source, bool keep_literals) {
  std::string text = source;
  for (std::size_t i = 0; i < source.size();) {
    std::size_t end = i + 1;
    if (source.compare(i, 2, "//") == 0) {
      end = std::min(source.find('\n', i), source.size());
      blank(text, i, end);
    } else if (source.compare(i, 2, "/*") == 0) {
      end = after(source, "*/", i + 2);
      blank(text, i, end);
    } else if (source[i] == '"' ||
               (source[i] == '\'' && (i == 0 || !is_word(source[i - 1])))) {
      // A quote inside a word separates digits.
      end = literal_end(source, i);
      if (!keep_literals) blank(text, i + 1, end - 1);
    }
    i = end;
  }
  return text;
}

}  // namespace satchel::repo
