#pragma once
// The tools that a model calls.

#include <cstddef>
#include <string>
#include <string_view>

#include "satchel/handle.h"
#include "tools/serve/caller.h"

namespace satchel::tools::serve {

struct Services;

/// Clients read lines of at most this many bytes.
inline constexpr std::size_t kMostReplyBytes = std::size_t{10} << 20;

struct ToolReply {
  /// {"ok":true,…} or {"ok":false,"error":{…}}
  std::string object;
  bool failed = false;
};

bool is_tool(std::string_view name);
/// The tool that is spelled most like `name`; empty when none is near.
std::string nearest_tool(std::string_view name);

/// Calls a tool that exists. `arguments` is checked JSON text, empty for none.
/// `envelope` is how many bytes stand around the object, which a reply holds
/// twice: as itself and as a string. Blocks on the disk; the audit line is
/// written on return.
ToolReply call_tool(Services& services, std::string_view name,
                    std::string_view arguments, const Caller& caller,
                    std::size_t envelope);

/// The object of state_load.
std::string loaded_object(const Snapshot& snapshot);

/// Whether a reply that holds `object` would be too long for clients.
bool is_too_long(std::string_view object, std::size_t envelope);
/// state_too_large for such a reply.
Error too_long(std::size_t bytes, std::string_view advice);

}  // namespace satchel::tools::serve
