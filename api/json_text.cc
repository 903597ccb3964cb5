#include "json_text.h"

#include <simdjson.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "json_keys.h"
#include "json_refusal.h"
#include "path.h"
#include "satchel/document.h"
#include "simd_text.h"

namespace satchel {
namespace {

/// Finds the first thing in a tree that JSON text could not hold.
class TreeCheck {
 public:
  bool passes(const Json& tree, int level) {
    if (!tree.is_structured()) return scalar(tree);
    if (level == kMaxDepth + kOpLevels) return stop(Refusal::too_deep);
    depth_ = std::max(depth_, level + 1);
    return tree.is_object() ? object(tree, level) : array(tree, level);
  }

  int depth() const { return depth_; }

  Error error() const {
    std::string pointer;
    for (auto it = segments_.rbegin(); it != segments_.rend(); ++it)
      append_segment(*it, &pointer);
    const bool located = why_ != Refusal::too_deep && why_ != Refusal::not_utf8;
    return refuse(
        why_, located ? std::optional<std::string_view>(pointer) : std::nullopt,
        std::nullopt);
  }

 private:
  bool object(const Json& tree, int level) {
    const auto& members = tree.get_ref<const Json::object_t&>();
    const std::size_t scope = keys_.open();
    for (const auto& [key, value] : members) {
      keys_.add(key);
      if (!text(key) || !passes(value, level + 1)) return at(key);
    }
    const auto twice = keys_.close(scope);
    if (!twice) return true;
    why_ = Refusal::duplicate_key;
    return at((members.begin() + static_cast<std::ptrdiff_t>(*twice))->first);
  }

  bool array(const Json& tree, int level) {
    const auto& items = tree.get_ref<const Json::array_t&>();
    for (std::size_t i = 0; i < items.size(); ++i)
      if (!passes(items[i], level + 1)) return at_index(i);
    return true;
  }

  bool scalar(const Json& value) {
    switch (value.type()) {
      case Json::value_t::string:
        return text(value.get_ref<const std::string&>());
      case Json::value_t::number_float:
        return std::isfinite(value.get_ref<const double&>()) ||
               stop(Refusal::not_finite);
      case Json::value_t::binary:
      case Json::value_t::discarded:
        return stop(Refusal::binary);
      default:
        return true;
    }
  }

  bool text(const std::string& s) {
    return simdjson::validate_utf8(s) || stop(Refusal::not_utf8);
  }
  bool stop(Refusal why) {
    why_ = why;
    return false;
  }
  // Segments are collected while the recursion unwinds: innermost first.
  [[gnu::noinline]] bool at(const std::string& key) {
    segments_.push_back(key);
    return false;
  }
  [[gnu::noinline]] bool at_index(std::size_t i) {
    segments_.push_back(std::to_string(i));
    return false;
  }

  int depth_ = 0;
  Refusal why_ = Refusal::syntax;
  KeyScopes keys_;
  std::vector<std::string> segments_;
};

[[gnu::noinline]] Json to_scalar(simdjson::dom::element element) {
  switch (element.type()) {
    case simdjson::dom::element_type::STRING:
      return std::string(std::string_view(element.get_string().value_unsafe()));
    case simdjson::dom::element_type::INT64: {
      const std::int64_t value = element.get_int64().value_unsafe();
      // As nlohmann's parser: only negative numbers are signed.
      if (value >= 0) return static_cast<std::uint64_t>(value);
      return value;
    }
    case simdjson::dom::element_type::UINT64:
      return element.get_uint64().value_unsafe();
    case simdjson::dom::element_type::DOUBLE:
      return element.get_double().value_unsafe();
    case simdjson::dom::element_type::BOOL:
      return element.get_bool().value_unsafe();
    default:
      return nullptr;
  }
}

// The vector below ordered_map: its own insertions search for the key.
using Members = std::vector<std::pair<const std::string, Json>>;

[[gnu::noinline]] void make_container(Json::value_t type, std::size_t size,
                                      Json* out) {
  *out = Json(type);
  if (type == Json::value_t::object) {
    static_cast<Members&>(out->get_ref<Json::object_t&>()).reserve(size);
  } else {
    out->get_ref<Json::array_t&>().reserve(size);
  }
}

[[gnu::noinline]] Json* add_member(std::string_view key, Json* out) {
  Members& members = out->get_ref<Json::object_t&>();
  return &members.emplace_back(std::string(key), nullptr).second;
}

[[gnu::noinline]] Json* add_item(Json* out) {
  return &out->get_ref<Json::array_t&>().emplace_back();
}

[[gnu::noinline]] void add_scalar(simdjson::dom::element element, Json* out) {
  *out = to_scalar(element);
}

// Recursive: the work is in functions of its own to keep the frame small.
void to_tree(simdjson::dom::element element, Json* out) {
  if (element.is_object()) {
    const simdjson::dom::object object = element.get_object().value_unsafe();
    make_container(Json::value_t::object, object.size(), out);
    for (const auto field : object)
      to_tree(field.value, add_member(field.key, out));
  } else if (element.is_array()) {
    const simdjson::dom::array array = element.get_array().value_unsafe();
    make_container(Json::value_t::array, array.size(), out);
    for (const auto item : array) to_tree(item, add_item(out));
  } else {
    add_scalar(element, out);
  }
}

}  // namespace

Result<CanonicalText> canonicalise(std::string_view text) {
  simdjson::dom::parser parser;
  const auto root = parse_simd(parser, text, kMaxDepth + kOpLevels);
  if (!root) return diagnose(text);
  CanonicalText out;
  out.text.reserve(text.size());
  ElementWriter writer(&out.text, kMaxDepth + kOpLevels);
  if (!writer.write(*root)) return diagnose(text);
  out.depth = writer.depth();
  return out;
}

Result<CanonicalText> canonical(const Json& tree) {
  TreeCheck check;
  if (!check.passes(tree, 0)) return check.error();
  CanonicalText out;
  append_canonical(tree, &out.text);
  out.depth = check.depth();
  return out;
}

Result<void> check_depth(const Document& document) {
  if (document.depth_bound() > kMaxDepth)
    return refuse(Refusal::too_deep, std::nullopt, std::nullopt);
  return {};
}

Result<void> check_state(const Document& document) {
  if (auto fits = check_depth(document); !fits) return fits;
  if (document.text().front() != '{')
    return refuse(Refusal::not_an_object, std::nullopt, std::nullopt);
  return {};
}

Json parse_canonical(std::string_view text) {
  simdjson::dom::parser parser;
  const auto root = parse_simd(parser, text, kUncheckedDepth);
  if (!root) throw std::logic_error("not canonical JSON");
  Json tree;
  to_tree(*root, &tree);
  return tree;
}

}  // namespace satchel
