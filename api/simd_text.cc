#include "simd_text.h"

#include <algorithm>

#include "json_write.h"

namespace satchel {

using simdjson::dom::element;
using simdjson::dom::element_type;

std::optional<element> parse_simd(simdjson::dom::parser& parser,
                                  std::string_view text, int max_depth) {
  // simdjson refuses the level that equals its bound.
  if (parser.allocate(text.size(), static_cast<std::size_t>(max_depth) + 1) !=
      simdjson::SUCCESS)
    return std::nullopt;
  element root;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS)
    return std::nullopt;
  return root;
}

bool ElementWriter::write(element element, int level) {
  if (element.is_object()) return object(element, level + 1);
  if (element.is_array()) return array(element, level + 1);
  scalar(element);
  return true;
}

bool ElementWriter::enter(int level) {
  depth_ = std::max(depth_, level);
  return level <= max_depth_;
}

bool ElementWriter::object(element element, int level) {
  if (!enter(level)) return false;
  const std::size_t scope = keys_.open();
  bool first = true;
  out_->push_back('{');
  const simdjson::dom::object members = element.get_object().value_unsafe();
  for (const auto field : members) {
    if (!first) out_->push_back(',');
    first = false;
    keys_.add(field.key);
    append_string(field.key, out_);
    out_->push_back(':');
    if (!write(field.value, level)) return false;
  }
  out_->push_back('}');
  return !keys_.close(scope);
}

bool ElementWriter::array(element element, int level) {
  if (!enter(level)) return false;
  bool first = true;
  out_->push_back('[');
  const simdjson::dom::array items = element.get_array().value_unsafe();
  for (const auto item : items) {
    if (!first) out_->push_back(',');
    first = false;
    if (!write(item, level)) return false;
  }
  out_->push_back(']');
  return true;
}

[[gnu::noinline]] void ElementWriter::scalar(element element) {
  switch (element.type()) {
    case element_type::STRING:
      return append_string(element.get_string().value_unsafe(), out_);
    case element_type::INT64:
      out_->append(NumberText(element.get_int64().value_unsafe()).view());
      return;
    case element_type::UINT64:
      out_->append(NumberText(element.get_uint64().value_unsafe()).view());
      return;
    case element_type::DOUBLE:
      out_->append(NumberText(element.get_double().value_unsafe()).view());
      return;
    case element_type::BOOL:
      out_->append(element.get_bool().value_unsafe() ? "true" : "false");
      return;
    default:
      out_->append("null");
  }
}

}  // namespace satchel
