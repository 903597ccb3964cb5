#pragma once
// Lifetimes on the command line: 90s 15m 12h 7d 500ms 1.5h.

#include <optional>
#include <string>

#include "satchel/ttl.h"

namespace satchel::tools {

/// A decimal number with a unit (ms s m h d), rounded down to microseconds;
/// anything else is invalid_input(ttl).
Ttl parse_ttl(const std::string& text);

/// What --ttl and --persist together say; keep when neither is given. Both is
/// wrong usage.
Ttl ttl_of(const std::optional<std::string>& ttl, bool persist);

}  // namespace satchel::tools
