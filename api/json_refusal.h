#pragma once
// Why text or a tree is refused as JSON, said so that the caller can repair it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "satchel/error.h"

namespace satchel {

enum class Refusal : std::uint8_t {
  syntax,
  cut_off,
  trailing_text,
  byte_order_mark,
  not_utf8,
  lone_surrogate,
  control_character,
  not_finite,
  integer_range,
  real_range,
  duplicate_key,
  too_deep,
  binary,
  not_an_object,
};

/// invalid_input with field "state". `pointer` (a JSON Pointer) becomes details
/// `path`; when it is long, the deepest ancestor that is not. `offset` is in
/// bytes from the start of the text.
Error refuse(Refusal why, std::optional<std::string_view> pointer,
             std::optional<std::size_t> offset);

/// Looks for the first reason why `text` is refused. Slow; only for text that
/// the fast reader did not take. Needs little stack whatever the text.
Error diagnose(std::string_view text);

}  // namespace satchel
