#pragma once
// The fuzz targets: each takes one input and aborts when an invariant breaks.
// tests/fuzz/run.sh fuzzes them; the tests replay their corpus.

#include <string_view>

namespace satchel::fuzz {

/// A state, optionally a line feed and a list of ops.
void json(std::string_view input);
/// What a client sends to the MCP server: one line, or an HTTP body.
void message(std::string_view input);
/// An op of the state wire, a line feed and the body.
void state_wire(std::string_view input);

/// Not assert: the checks must stand in every build.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace satchel::fuzz
