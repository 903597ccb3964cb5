#pragma once
// The canonical form of JSON values (satchel/document.h): numbers, strings and
// whole trees. Every writer of the library goes through these functions, so
// equal values have equal bytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "satchel/json.h"

namespace satchel {

/// A number's canonical text in a buffer of its own.
class NumberText {
 public:
  explicit NumberText(std::int64_t value);
  explicit NumberText(std::uint64_t value);
  /// Shortest digits that read back to `value`; "1.0", "-0.0", "1e+22": never
  /// the look of an integer. Not finite: "null".
  explicit NumberText(double value);

  std::string_view view() const { return {text_.data(), size_}; }

 private:
  void put(std::string_view text);
  void put_real(double value);
  void put_digits(std::string_view digits, int exponent);

  std::array<char, 32> text_;
  std::size_t size_ = 0;
};

/// Appends `text` quoted; escapes control characters, '"' and '\'.
void append_string(std::string_view text, std::string* out);
/// The bytes that append_string adds.
std::size_t string_size(std::string_view text);

/// Appends the canonical text of a tree that obeys the JSON rules. Other trees
/// give no canonical text but do no harm: what has no JSON form becomes null,
/// invalid UTF-8 is copied. Recursion goes as deep as the tree.
void append_canonical(const Json& tree, std::string* out);
/// The bytes that append_canonical adds.
std::size_t canonical_size(const Json& tree);

/// Whether two trees have the same canonical text.
bool same_canonical(const Json& a, const Json& b);

/// Levels of containers; a scalar has 0, {} has 1.
int depth_of(const Json& tree);

}  // namespace satchel
