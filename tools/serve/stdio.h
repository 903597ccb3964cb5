#pragma once
// The stdio transport: a message a line on standard input, answers on standard
// output and nothing else there.

#include <cstddef>

#include "tools/serve/caller.h"
#include "tools/serve/protocol.h"

namespace satchel::tools::serve {

struct StdioSettings {
  /// `writer` may be empty: then it is the client's name and the host's.
  Caller caller;
  /// Longer lines are refused.
  std::size_t longest_line = std::size_t{9} << 20;
};

/// Serves until the input ends, nobody reads the output, or SIGTERM, SIGINT or
/// SIGHUP comes; then answers what was read. From that moment on the process
/// has less than a second: what is not done by then, on return or not, ends
/// with _exit(0). (Every write that was acknowledged is safe by then.)
void serve_stdio(Protocol& protocol, const StdioSettings& settings);

}  // namespace satchel::tools::serve
