#pragma once
// Checks of names that callers give.

#include <string_view>

namespace satchel {

bool is_utf8(std::string_view s) noexcept;

/// Whether valid UTF-8 holds a character of category Cc (U+0000 to U+001F,
/// U+007F to U+009F).
bool has_control_character(std::string_view s) noexcept;

/// Whether valid UTF-8 holds a white-space character: Unicode's property
/// White_Space, or U+FEFF.
bool has_white_space(std::string_view s) noexcept;

}  // namespace satchel
