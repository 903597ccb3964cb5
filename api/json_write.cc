#include "json_write.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace satchel {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// 0: copied as it is; 'u': \u00xx; others: the letter after the backslash.
constexpr std::array<char, 256> make_escapes() {
  std::array<char, 256> table{};
  for (std::size_t c = 0; c < 0x20; ++c) table[c] = 'u';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}
constexpr std::array<char, 256> kEscapes = make_escapes();

char escape_of(char c) { return kEscapes[static_cast<unsigned char>(c)]; }

struct TextSink {
  std::string* out;
  void put(char c) { out->push_back(c); }
  void raw(std::string_view text) { out->append(text); }
  void quoted(std::string_view text) { append_string(text, out); }
};

struct CountSink {
  std::size_t size = 0;
  void put(char) { ++size; }
  void raw(std::string_view text) { size += text.size(); }
  void quoted(std::string_view text) { size += string_size(text); }
};

template <class Sink>
[[gnu::noinline]] void write_scalar(const Json& value, Sink& sink) {
  switch (value.type()) {
    case Json::value_t::boolean:
      return sink.raw(value.get_ref<const bool&>() ? "true" : "false");
    case Json::value_t::string:
      return sink.quoted(value.get_ref<const std::string&>());
    case Json::value_t::number_integer:
      return sink.raw(NumberText(value.get_ref<const std::int64_t&>()).view());
    case Json::value_t::number_unsigned:
      return sink.raw(NumberText(value.get_ref<const std::uint64_t&>()).view());
    case Json::value_t::number_float:
      return sink.raw(NumberText(value.get_ref<const double&>()).view());
    default:
      return sink.raw("null");
  }
}

template <class Sink>
void write_tree(const Json& tree, Sink& sink) {
  bool first = true;
  if (tree.is_object()) {
    sink.put('{');
    for (const auto& [key, value] : tree.get_ref<const Json::object_t&>()) {
      if (!first) sink.put(',');
      first = false;
      sink.quoted(key);
      sink.put(':');
      write_tree(value, sink);
    }
    sink.put('}');
  } else if (tree.is_array()) {
    sink.put('[');
    for (const Json& value : tree.get_ref<const Json::array_t&>()) {
      if (!first) sink.put(',');
      first = false;
      write_tree(value, sink);
    }
    sink.put(']');
  } else {
    write_scalar(tree, sink);
  }
}

bool same_integer(const Json& a, const Json& b) {
  if (!a.is_number_integer() || !b.is_number_integer()) return false;
  if (a.is_number_unsigned() == b.is_number_unsigned())
    return a.get<std::uint64_t>() == b.get<std::uint64_t>();
  const Json& plain = a.is_number_unsigned() ? b : a;
  return plain.get<std::int64_t>() >= 0 &&
         a.get<std::uint64_t>() == b.get<std::uint64_t>();
}

bool same_scalar(const Json& a, const Json& b) {
  if (a.is_number_integer()) return same_integer(a, b);
  if (a.type() != b.type()) return false;
  if (a.is_number_float())
    return std::bit_cast<std::uint64_t>(a.get<double>()) ==
           std::bit_cast<std::uint64_t>(b.get<double>());
  return a == b;
}

}  // namespace

NumberText::NumberText(std::int64_t value) {
  const auto end = std::to_chars(text_.data(), text_.data() + 32, value).ptr;
  size_ = static_cast<std::size_t>(end - text_.data());
}

NumberText::NumberText(std::uint64_t value) {
  const auto end = std::to_chars(text_.data(), text_.data() + 32, value).ptr;
  size_ = static_cast<std::size_t>(end - text_.data());
}

NumberText::NumberText(double value) { put_real(value); }

void NumberText::put(std::string_view text) {
  std::memcpy(text_.data() + size_, text.data(), text.size());
  size_ += text.size();
}

// Exponents from -4 to 14 are written out, others with an 'e', as nlohmann's
// dump does. The digits come from to_chars, which is always shortest.
void NumberText::put_real(double value) {
  if (!std::isfinite(value)) return put("null");
  if (std::signbit(value)) put("-");
  if (value == 0) return put("0.0");

  std::array<char, 32> buffer;
  char* const begin = buffer.data();
  const char* end =
      std::to_chars(begin, begin + buffer.size(), std::fabs(value),
                    std::chars_format::scientific)
          .ptr;
  const char* e = std::find(static_cast<const char*>(begin), end, 'e');
  int exponent = 0;
  std::from_chars(e + 1 + (e[1] == '+'), end, exponent);
  if (exponent < -4 || exponent >= 15)
    return put({begin, static_cast<std::size_t>(end - begin)});

  std::size_t count = static_cast<std::size_t>(e - begin);
  if (count > 1) {  // d.ddd: close the gap of the point
    std::memmove(begin + 1, begin + 2, count - 2);
    --count;
  }
  put_digits({begin, count}, exponent);
}

void NumberText::put_digits(std::string_view digits, int exponent) {
  static constexpr std::string_view kZeros = "0000000000000000";
  if (exponent < 0) {
    put("0.");
    put(kZeros.substr(0, static_cast<std::size_t>(-exponent - 1)));
    return put(digits);
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    put(digits);
    put(kZeros.substr(0, whole - digits.size()));
    return put(".0");
  }
  put(digits.substr(0, whole));
  put(".");
  put(digits.substr(whole));
}

void append_string(std::string_view text, std::string* out) {
  out->push_back('"');
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    const char* run = p;
    while (p != end && escape_of(*p) == 0) ++p;
    out->append(run, static_cast<std::size_t>(p - run));
    if (p == end) break;
    out->push_back('\\');
    const char escape = escape_of(*p);
    out->push_back(escape);
    if (escape == 'u') {
      const auto c = static_cast<unsigned char>(*p);
      out->append("00");
      out->push_back(kHex[c >> 4]);
      out->push_back(kHex[c & 15]);
    }
    ++p;
  }
  out->push_back('"');
}

std::size_t string_size(std::string_view text) {
  std::size_t size = text.size() + 2;
  for (const char c : text) {
    const char escape = escape_of(c);
    if (escape != 0) size += escape == 'u' ? 5 : 1;
  }
  return size;
}

void append_canonical(const Json& tree, std::string* out) {
  TextSink sink{out};
  write_tree(tree, sink);
}

std::size_t canonical_size(const Json& tree) {
  CountSink sink;
  write_tree(tree, sink);
  return sink.size;
}

bool same_canonical(const Json& a, const Json& b) {
  if (a.is_object()) {
    if (!b.is_object() || a.size() != b.size()) return false;
    const auto& left = a.get_ref<const Json::object_t&>();
    const auto& right = b.get_ref<const Json::object_t&>();
    return std::equal(left.begin(), left.end(), right.begin(),
                      [](const auto& x, const auto& y) {
                        return x.first == y.first &&
                               same_canonical(x.second, y.second);
                      });
  }
  if (a.is_array()) {
    if (!b.is_array() || a.size() != b.size()) return false;
    const auto& left = a.get_ref<const Json::array_t&>();
    const auto& right = b.get_ref<const Json::array_t&>();
    return std::equal(left.begin(), left.end(), right.begin(), same_canonical);
  }
  return same_scalar(a, b);
}

int depth_of(const Json& tree) {
  int deepest = 0;
  if (tree.is_object()) {
    for (const auto& member : tree.get_ref<const Json::object_t&>())
      deepest = std::max(deepest, depth_of(member.second));
  } else if (tree.is_array()) {
    for (const Json& item : tree.get_ref<const Json::array_t&>())
      deepest = std::max(deepest, depth_of(item));
  } else {
    return 0;
  }
  return deepest + 1;
}

}  // namespace satchel
