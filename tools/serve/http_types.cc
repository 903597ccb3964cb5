#include "tools/serve/http_types.h"

namespace satchel::tools::serve {
namespace {

bool same_name(std::string_view sent, std::string_view lower) {
  if (sent.size() != lower.size()) return false;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const char c = sent[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) != lower[i]) {
      return false;
    }
  }
  return true;
}

std::string_view stripped(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

std::vector<std::string_view> HttpHead::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [sent, value] : headers) {
    if (same_name(sent, name)) values.push_back(stripped(value));
  }
  return values;
}

std::optional<std::string_view> HttpHead::one(std::string_view name) const {
  const auto values = all(name);
  if (values.size() != 1) return {};
  return values[0];
}

HttpReply text_reply(int status, std::string text) {
  return {status, std::move(text) + '\n', "text/plain; charset=utf-8"};
}

}  // namespace satchel::tools::serve
