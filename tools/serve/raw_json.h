#pragma once
// JSON text that is looked into without a tree: a message is checked once, and
// then only the members that matter are read. Values stay as they were sent,
// so that no number changes its digits and what a state may not hold is
// refused by the store, in its words. (A parser with a depth or a number range
// of its own could not tell these apart from text that is no JSON.)

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace satchel::tools::serve {

struct Scan {
  /// The text is exactly one JSON value (RFC 8259) in valid UTF-8, nested at
  /// most a million deep.
  bool json = false;
  /// Some object in it has a member twice.
  bool duplicate = false;
};

/// Needs little stack, and memory in proportion to the text.
Scan scan(std::string_view text);

enum class JsonKind { object, array, string, number, boolean, null };

/// The functions below take text that scan() passed, or a value within it.

/// Without the white space around it.
std::string_view trimmed(std::string_view text);
JsonKind kind_of(std::string_view value);

struct RawMember {
  std::string key;
  std::string_view value;
};

/// The members of an object, in order.
std::vector<RawMember> members_of(std::string_view object);
/// The items of an array.
std::vector<std::string_view> items_of(std::string_view array);
/// The member `key` of an object; none when it is absent.
std::optional<std::string_view> member_of(std::string_view object,
                                          std::string_view key);

/// What a string says; none when `value` is no string or holds half of a
/// surrogate pair.
std::optional<std::string> text_of(std::string_view value);

/// `text` as a JSON string; bytes that are no UTF-8 are replaced.
std::string json_quoted(std::string_view text);

}  // namespace satchel::tools::serve
