#include "tools/serve/tool_arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "satchel/error.h"
#include "tools/arguments.h"
#include "tools/nearest.h"
#include "tools/serve/raw_json.h"

namespace satchel::tools::serve {
namespace {

Error refused(std::string_view name, const std::string& message) {
  return invalid(std::string(name).c_str(), message);
}

Error unknown(const std::string& name, const std::vector<std::string>& known) {
  if (name == "user") {
    return invalid("arguments",
                   "There is no argument user: the server knows whose state "
                   "this is. Leave it out. Nothing was done.");
  }
  const std::string near = nearest(name, known);
  std::string list;
  for (const auto& k : known) list += (list.empty() ? "" : ", ") + k;
  return invalid("arguments",
                 "There is no argument " + shown(name) +
                     (near.empty() ? "." : "; did you mean '" + near + "'?") +
                     " Known here: " + list + ". Nothing was done.");
}

/// The literal of a number, or of one in a string; none for anything else.
std::optional<std::string> number_text(std::string_view value) {
  std::string text(trimmed(value));
  if (kind_of(text) == JsonKind::string) text = text_of(text).value_or("");
  if (text.empty() || trimmed(text).size() != text.size()) return std::nullopt;
  if (!scan(text).json || kind_of(text) != JsonKind::number) {
    return std::nullopt;
  }
  return text;
}

std::optional<double> to_double(const std::string& text) {
  double value = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> to_integer(std::string text) {
  if (const auto point = text.find('.');
      point != text.npos && text.find_first_not_of("0", point + 1) == text.npos)
    text.resize(point);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  // With an exponent, and few enough digits that no double rounds them.
  if (text.find_first_of("eE") == text.npos || text.size() > 15) {
    return std::nullopt;
  }
  const auto real = to_double(text);
  constexpr double kExact = 9007199254740992.0;
  if (!real || *real < 0 || *real > kExact || *real != std::floor(*real)) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*real);
}

/// The text of an object or array that a string holds; none when it holds
/// something else. (Once: a string in a string stays one.)
std::optional<std::string> unwrapped(std::string_view value) {
  auto text = text_of(value);
  if (!text || !scan(*text).json) return std::nullopt;
  const JsonKind kind = kind_of(*text);
  if (kind != JsonKind::object && kind != JsonKind::array) return std::nullopt;
  return text;
}

Document parsed(std::string_view text, std::string_view name) {
  auto document = Document::parse(text);
  if (document.ok()) return *std::move(document);
  Error error = document.error();
  error.details["field"] = name;
  throw error;
}

/// One op with what came as strings unwrapped.
std::string unwrapped_op(std::string_view item) {
  const std::string op = unwrapped(item).value_or(std::string(item));
  if (kind_of(op) != JsonKind::object) return op;
  const auto mapping = member_of(op, "mapping");
  if (!mapping || kind_of(*mapping) != JsonKind::string) return op;
  const auto inside = unwrapped(*mapping);
  if (!inside) return op;
  std::string out = "{";
  for (const auto& [key, value] : members_of(op)) {
    if (out.size() > 1) out += ',';
    out += json_quoted(key) + ':';
    out += key == "mapping" ? std::string_view(*inside) : value;
  }
  return out + '}';
}

bool holds_string(std::string_view op) {
  if (kind_of(op) == JsonKind::string) return true;
  if (kind_of(op) != JsonKind::object) return false;
  const auto mapping = member_of(op, "mapping");
  return mapping && kind_of(*mapping) == JsonKind::string;
}

}  // namespace

ToolArguments::ToolArguments(std::string_view object,
                             const std::vector<std::string>& known) {
  if (object.empty() || kind_of(object) == JsonKind::null) return;
  if (kind_of(object) != JsonKind::object) {
    throw invalid("arguments",
                  "arguments must be a JSON object of the tool's arguments, "
                  "for example {\"handle\":\"research_k2v7m4qz\"}");
  }
  for (const auto& [name, value] : members_of(object)) {
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      if (kind_of(value) != JsonKind::null) arguments_.push_back({name, value});
    } else if (std::find(std::begin(kTolerated), std::end(kTolerated), name) ==
               std::end(kTolerated)) {
      throw unknown(name, known);
    }
  }
}

std::optional<std::string_view> ToolArguments::find(
    std::string_view name) const {
  for (const Argument& argument : arguments_) {
    if (argument.name == name) return argument.value;
  }
  return std::nullopt;
}

std::optional<std::string> ToolArguments::text(std::string_view name) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  if (kind_of(*value) != JsonKind::string) {
    throw refused(name, std::string(name) + " must be a string");
  }
  auto text = text_of(*value);
  if (!text) {
    throw refused(name, std::string(name) +
                            " holds half of a surrogate pair (\\ud800 to "
                            "\\udfff); send whole characters");
  }
  return text;
}

std::string ToolArguments::raw_text(std::string_view name) const {
  const auto value = find(name);
  return value ? text_of(*value).value_or("") : "";
}

std::optional<std::uint64_t> ToolArguments::integer(
    std::string_view name) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  const auto text = number_text(*value);
  const auto number = text ? to_integer(*text) : std::nullopt;
  if (!number) {
    throw refused(name, std::string(name) +
                            " must be a whole number that is not negative, "
                            "for example 3");
  }
  return number;
}

std::optional<double> ToolArguments::number(std::string_view name) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  const auto text = number_text(*value);
  const auto number = text ? to_double(*text) : std::nullopt;
  if (!number) {
    throw refused(
        name, std::string(name) + " must be a number, for example 7 or 0.5");
  }
  return number;
}

bool ToolArguments::flag(std::string_view name) const {
  const auto value = find(name);
  if (!value) return false;
  if (kind_of(*value) != JsonKind::boolean) {
    throw refused(name,
                  std::string(name) + " must be true or false, without quotes");
  }
  return *value == "true";
}

Ttl ToolArguments::lifetime() const {
  const auto days = number("ttl_days");
  const bool persist = flag("persist");
  if (days && persist) {
    throw invalid("ttl_days",
                  "ttl_days and persist exclude each other; send one of them");
  }
  if (persist) return Ttl::persist();
  if (!days) return Ttl::keep();
  // Rounded, so that a day's 86400th is a second.
  const double us = std::round(*days * 86'400e6);
  constexpr double kMost = 9e18;
  return std::chrono::microseconds(
      static_cast<std::int64_t>(std::clamp(us, -kMost, kMost)));
}

Document ToolArguments::state() const {
  const auto value = find("state");
  constexpr const char* kShape =
      "state must be a JSON object, for example {\"topic\":\"tides\"}";
  if (!value) throw invalid("state", std::string(kShape) + "; it is missing");
  if (kind_of(*value) == JsonKind::object) return parsed(*value, "state");
  const auto inside = unwrapped(*value);
  if (!inside || kind_of(*inside) != JsonKind::object) {
    throw invalid("state", kShape);
  }
  return parsed(*inside, "state");
}

Document ToolArguments::ops() const {
  const auto value = find("ops");
  constexpr const char* kShape =
      "ops must be an array of ops, for example "
      "[{\"op\":\"append\",\"path\":\"sources\",\"value\":\"a.pdf\"}]";
  if (!value) throw invalid("ops", std::string(kShape) + "; it is missing");
  const std::string text =
      unwrapped(*value).value_or(std::string(trimmed(*value)));
  if (kind_of(text) == JsonKind::object) {
    return parsed(unwrapped_op(text), "ops");
  }
  if (kind_of(text) != JsonKind::array) throw invalid("ops", kShape);
  const auto items = items_of(text);
  if (std::none_of(items.begin(), items.end(), holds_string)) {
    return parsed(text, "ops");
  }
  std::string out = "[";
  for (const auto item : items) {
    if (out.size() > 1) out += ',';
    out += unwrapped_op(item);
  }
  return parsed(out + ']', "ops");
}

}  // namespace satchel::tools::serve
