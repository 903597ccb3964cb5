#pragma once
// Text from a store or a command line, made safe to show on a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace satchel::tools {

/// Control characters, bidirectional controls and line separators become
/// \uXXXX, bytes that are no UTF-8 become U+FFFD. Valid JSON stays valid JSON
/// with the same meaning: there, such characters stand inside strings only.
/// `keep_newlines` is for text that is laid out already.
std::string escaped(std::string_view text, bool keep_newlines = false);

/// Columns that `text` takes on a terminal.
std::size_t width_of(std::string_view text);

/// `text` in at most `columns`, an ellipsis at the end when something was cut.
std::string fitted(std::string_view text, std::size_t columns);

}  // namespace satchel::tools
