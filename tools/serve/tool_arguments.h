#pragma once
// The arguments of a tool call: strict about names, lenient about the ways in
// which models and hosts are known to spell values.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "satchel/document.h"
#include "satchel/ttl.h"

namespace satchel::tools::serve {

/// Names that hosts add to any call; they are ignored. (README.md lists
/// them.)
inline constexpr std::string_view kTolerated[] = {
    "_meta",      "explanation", "random_string",
    "toolAction", "toolSummary", "waitForPreviousTools"};

/// Every function throws invalid_input with the argument as field. An absent
/// argument and null are the same.
class ToolArguments {
 public:
  /// `object` is the JSON text of the call's arguments, already checked; empty
  /// for none. Refuses what is no object, and a name that is neither in
  /// `known` nor tolerated.
  ToolArguments(std::string_view object, const std::vector<std::string>& known);

  bool has(std::string_view name) const { return find(name).has_value(); }

  std::optional<std::string> text(std::string_view name) const;
  /// As it was sent and if it can be read, whatever its rule; for the audit
  /// log.
  std::string raw_text(std::string_view name) const;
  /// A whole number from 0 on: 3, 3.0, "3".
  std::optional<std::uint64_t> integer(std::string_view name) const;
  bool flag(std::string_view name) const;
  /// ttl_days and persist together.
  Ttl lifetime() const;

  /// The object `state`; it may come as a string that holds it.
  Document state() const;
  /// The ops of a patch; the array, each op and the mapping of a merge may come
  /// as strings that hold them.
  Document ops() const;

 private:
  std::optional<std::string_view> find(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;

  struct Argument {
    std::string name;
    std::string_view value;
  };
  std::vector<Argument> arguments_;
};

}  // namespace satchel::tools::serve
