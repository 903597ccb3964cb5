#include "path.h"

#include <charconv>

#include "simd_text.h"

namespace satchel {
namespace {

std::string_view unescape(std::string_view segment, std::string* out) {
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '~') {
      out->push_back(segment[i]);
      continue;
    }
    const char next = ++i < segment.size() ? segment[i] : '\0';
    if (next != '0' && next != '1') return reason::kBadEscape;
    out->push_back(next == '0' ? '~' : '/');
  }
  return reason::kNone;
}

Error refuse_path(std::string_view why) {
  std::string message = "There is nothing at this path (";
  message += why;
  message +=
      "). Read the whole state to see what is there; a path is dotted, "
      "\"profile.tags\", or a JSON Pointer, \"/profile/tags/0\".";
  Json details = {{"field", "path"}};
  details["reason"] = why;
  return Error(ErrorCode::invalid_input, std::move(message),
               std::move(details));
}

struct Step {
  simdjson::dom::element element;
  std::string_view reason;
};

Step step(simdjson::dom::element from, const std::string& segment,
          bool pointer) {
  if (from.is_object()) {
    const simdjson::dom::object members = from.get_object().value_unsafe();
    for (const auto field : members)
      if (field.key == segment) return {field.value, reason::kNone};
    return {from, reason::kNotFound};
  }
  if (!from.is_array() || !pointer) return {from, reason::kExpectedObject};
  const auto index = array_index(segment);
  if (!index) return {from, reason::kBadIndex};
  std::size_t i = 0;
  const simdjson::dom::array items = from.get_array().value_unsafe();
  for (const auto item : items)
    if (i++ == *index) return {item, reason::kNone};
  return {from, reason::kIndexOutOfRange};
}

}  // namespace

ParsedPath parse_path(std::string_view text) {
  ParsedPath parsed;
  if (text.empty()) return parsed;
  Path& path = parsed.path;
  path.pointer = text.front() == '/';
  const char separator = path.pointer ? '/' : '.';
  std::size_t begin = path.pointer ? 1 : 0;
  while (begin != std::string_view::npos && parsed.reason.empty()) {
    const std::size_t end = text.find(separator, begin);
    const std::string_view segment =
        text.substr(begin, end == std::string_view::npos ? end : end - begin);
    begin = end == std::string_view::npos ? end : end + 1;
    // No state is deeper, and a path of a million segments is not worth memory.
    if (path.segments.size() == static_cast<std::size_t>(kMaxDepth)) {
      parsed.reason = reason::kTooDeep;
    } else if (!path.pointer) {
      if (segment.empty()) parsed.reason = reason::kEmptySegment;
      path.segments.emplace_back(segment);
    } else {
      parsed.reason = unescape(segment, &path.segments.emplace_back());
    }
  }
  return parsed;
}

void append_segment(std::string_view segment, std::string* pointer) {
  pointer->push_back('/');
  for (const char c : segment) {
    if (c == '~') {
      *pointer += "~0";
    } else if (c == '/') {
      *pointer += "~1";
    } else {
      pointer->push_back(c);
    }
  }
}

std::optional<std::size_t> array_index(std::string_view segment) {
  if (segment.empty() || (segment.front() == '0' && segment.size() > 1))
    return std::nullopt;
  for (const char c : segment)
    if (c < '0' || c > '9') return std::nullopt;
  std::size_t index = 0;
  const char* end = segment.data() + segment.size();
  if (std::from_chars(segment.data(), end, index).ec != std::errc())
    return static_cast<std::size_t>(-1);
  return index;
}

std::size_t find_member(const Json& object, std::string_view key) {
  const auto& members = object.get_ref<const Json::object_t&>();
  for (std::size_t i = 0; i < members.size(); ++i)
    if ((members.begin() + static_cast<std::ptrdiff_t>(i))->first == key)
      return i;
  return kNoMember;
}

Resolved resolve(Json& root, const Path& path) {
  Resolved at{&root, {}, 0, reason::kNone};
  at.location.reserve(path.segments.size());
  for (const std::string& segment : path.segments) {
    std::size_t position = 0;
    if (at.node->is_object()) {
      position = find_member(*at.node, segment);
      if (position == kNoMember) {
        at.reason = reason::kNotFound;
        return at;
      }
    } else if (at.node->is_array() && path.pointer) {
      const auto index = array_index(segment);
      if (!index || *index >= at.node->size()) {
        at.reason = index ? reason::kIndexOutOfRange : reason::kBadIndex;
        return at;
      }
      position = *index;
    } else {
      at.reason = reason::kExpectedObject;
      return at;
    }
    at.location.push_back(position);
    at.node = &node_at(*at.node, {position});
    ++at.matched;
  }
  return at;
}

Json& node_at(Json& root, const Location& location) {
  Json* node = &root;
  for (const std::size_t position : location) {
    if (node->is_object()) {
      auto& members = node->get_ref<Json::object_t&>();
      node = &(members.begin() + static_cast<std::ptrdiff_t>(position))->second;
    } else {
      node = &node->get_ref<Json::array_t&>()[position];
    }
  }
  return *node;
}

Result<Document> subtree(const Document& state, std::string_view path) {
  const ParsedPath parsed = parse_path(path);
  if (!parsed.reason.empty()) return refuse_path(parsed.reason);
  if (parsed.path.segments.empty()) return state;
  simdjson::dom::parser parser;
  auto at = parse_simd(parser, state.text(), kUncheckedDepth);
  if (!at) throw std::logic_error("not canonical JSON");
  for (const std::string& segment : parsed.path.segments) {
    const Step next = step(*at, segment, parsed.path.pointer);
    if (!next.reason.empty()) return refuse_path(next.reason);
    at = next.element;
  }
  std::string text;
  ElementWriter(&text, kUncheckedDepth).write(*at);
  return Document::from_canonical(
      std::make_shared<const std::string>(std::move(text)));
}

}  // namespace satchel
