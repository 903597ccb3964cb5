#include "tools/serve/raw_json.h"

#include <array>
#include <cstdint>
#include <deque>

#include "api/json_keys.h"
#include "api/json_write.h"
#include "api/utf8.h"
#include "satchel/json.h"

namespace satchel::tools::serve {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The value of four hex digits at `at`; none when they are no such.
std::optional<std::uint32_t> hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text.substr(at, 4)) {
    const int lower = c | 0x20;
    int digit = 0;
    if (is_digit(c)) {
      digit = c - '0';
    } else if (lower >= 'a' && lower <= 'f') {
      digit = lower - 'a' + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

void append_utf8(std::uint32_t c, std::string* out) {
  const auto put = [out](std::uint32_t byte) {
    out->push_back(static_cast<char>(byte));
  };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

/// Decodes what stands between the quotes of a string of good grammar. A lone
/// surrogate becomes its three bytes, which are no UTF-8, so that two keys
/// compare as they were sent; then `whole` is false.
std::string decoded(std::string_view inner, bool* whole) {
  std::string out;
  out.reserve(inner.size());
  *whole = true;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\') {
      out.push_back(inner[i]);
      continue;
    }
    const char c = inner[++i];
    constexpr std::string_view kNames = "bfnrt";
    constexpr std::string_view kMeanings = "\b\f\n\r\t";
    if (const auto at = kNames.find(c); at != kNames.npos) {
      out.push_back(kMeanings[at]);
    } else if (c != 'u') {
      out.push_back(c);
    } else {
      std::uint32_t unit = *hex4(inner, i + 1);
      i += 4;
      if (unit >= 0xD800 && unit < 0xDC00 && inner.substr(i + 1, 2) == "\\u") {
        const std::uint32_t low = *hex4(inner, i + 3);
        if (low >= 0xDC00 && low < 0xE000) {
          unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
          i += 6;
        }
      }
      *whole = *whole && (unit < 0xD800 || unit >= 0xE000);
      append_utf8(unit, &out);
    }
  }
  return out;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Scan run() {
    Scan result;
    result.json = is_utf8(text_) && value();
    result.duplicate = duplicate_;
    return result;
  }

 private:
  /// Deeper text is no JSON for us: each level costs memory. (A state may have
  /// 128.)
  static constexpr std::size_t kDeepest = 1'000'000;

  struct Level {
    std::uint32_t scope;
    bool object;
  };

  /// One value and white space up to the end of the text.
  bool value() {
    for (;;) {
      if (!start()) return false;
      if (opened_) {
        opened_ = false;
        continue;
      }
      for (;;) {
        space();
        if (levels_.empty()) return at_ == text_.size();
        if (take(',')) {
          if (levels_.back().object && !key()) return false;
          break;
        }
        if (!take(levels_.back().object ? '}' : ']')) return false;
        leave();
      }
    }
  }

  /// A scalar, an empty container, or the start of one that has something in
  /// it (then opened_ is set, and its first value comes next).
  bool start() {
    space();
    if (at_ == text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        if (levels_.size() == kDeepest) return false;
        ++at_;
        levels_.push_back({static_cast<std::uint32_t>(keys_.open()), true});
        space();
        if (take('}')) return leave(), true;
        return opened_ = true, key();
      case '[':
        if (levels_.size() == kDeepest) return false;
        ++at_;
        levels_.push_back({0, false});
        space();
        if (take(']')) return leave(), true;
        return opened_ = true;
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  void leave() {
    if (levels_.back().object && keys_.close(levels_.back().scope)) {
      duplicate_ = true;
    }
    levels_.pop_back();
  }

  bool key() {
    space();
    const std::size_t begin = at_ + 1;
    escaped_ = false;
    if (at_ == text_.size() || text_[at_] != '"' || !string()) return false;
    std::string_view name = text_.substr(begin, at_ - begin - 1);
    if (escaped_) {
      bool whole = true;
      name = decoded_keys_.emplace_back(decoded(name, &whole));
    }
    keys_.add(name);
    space();
    return take(':');
  }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') return ++at_, true;
      if (c < 0x20) return false;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }

  bool escape() {
    escaped_ = true;
    if (++at_ == text_.size()) return false;
    if (text_[at_] == 'u') {
      if (!hex4(text_, at_ + 1)) return false;
      at_ += 4;
      return true;
    }
    return std::string_view("\"\\/bfnrt").find(text_[at_]) !=
           std::string_view::npos;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin;
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool opened_ = false;
  bool escaped_ = false;
  bool duplicate_ = false;
  std::vector<Level> levels_;
  KeyScopes keys_;
  /// Keys with escapes; a deque does not move them.
  std::deque<std::string> decoded_keys_;
};

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

/// `at` stands on a quote; the position behind the closing one.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

/// The position behind the value that starts at `at`.
std::size_t skip_value(std::string_view text, std::size_t at) {
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] != '{' && text[at] != '[') {
    const std::size_t end = text.find_first_of(",]} \t\r\n", at);
    return end == text.npos ? text.size() : end;
  }
  std::size_t depth = 0;
  for (;;) {
    switch (text[at]) {
      case '"':
        at = skip_string(text, at);
        continue;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default:
        break;
    }
    ++at;
  }
}

/// Calls visit(raw key with its quotes, value) for each member until it returns
/// false.
template <class Visit>
void visit_members(std::string_view object, Visit visit) {
  std::size_t at = skip_space(object, 0) + 1;
  for (;;) {
    at = skip_space(object, at);
    if (object[at] != '"') return;
    const std::size_t key_end = skip_string(object, at);
    const auto key = object.substr(at, key_end - at);
    at = skip_space(object, skip_space(object, key_end) + 1);
    const std::size_t end = skip_value(object, at);
    if (!visit(key, object.substr(at, end - at))) return;
    at = skip_space(object, end);
    if (object[at] != ',') return;
    ++at;
  }
}

std::string_view inner(std::string_view string) {
  return string.substr(1, string.size() - 2);
}

}  // namespace

Scan scan(std::string_view text) { return Scanner(text).run(); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

JsonKind kind_of(std::string_view value) {
  switch (trimmed(value).front()) {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 't':
    case 'f':
      return JsonKind::boolean;
    case 'n':
      return JsonKind::null;
    default:
      return JsonKind::number;
  }
}

std::vector<RawMember> members_of(std::string_view object) {
  std::vector<RawMember> out;
  visit_members(object, [&](std::string_view key, std::string_view value) {
    bool whole = true;
    out.push_back({decoded(inner(key), &whole), value});
    return true;
  });
  return out;
}

std::vector<std::string_view> items_of(std::string_view array) {
  std::vector<std::string_view> out;
  std::size_t at = skip_space(array, skip_space(array, 0) + 1);
  while (array[at] != ']') {
    const std::size_t end = skip_value(array, at);
    out.push_back(array.substr(at, end - at));
    at = skip_space(array, end);
    if (array[at] == ',') at = skip_space(array, at + 1);
  }
  return out;
}

std::optional<std::string_view> member_of(std::string_view object,
                                          std::string_view key) {
  std::optional<std::string_view> found;
  visit_members(object, [&](std::string_view raw, std::string_view value) {
    const auto name = inner(raw);
    bool whole = true;
    if (name.find('\\') == name.npos ? name == key
                                     : decoded(name, &whole) == key) {
      found = value;
    }
    return !found;
  });
  return found;
}

std::optional<std::string> text_of(std::string_view value) {
  value = trimmed(value);
  if (kind_of(value) != JsonKind::string) return std::nullopt;
  bool whole = true;
  std::string text = decoded(inner(value), &whole);
  if (!whole) return std::nullopt;
  return text;
}

std::string json_quoted(std::string_view text) {
  if (!is_utf8(text)) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::string out;
  append_string(text, &out);
  return out;
}

}  // namespace satchel::tools::serve
