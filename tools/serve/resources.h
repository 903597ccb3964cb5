#pragma once
// Each live handle of the caller as a resource, state://HANDLE.

#include <string>

#include "tools/serve/caller.h"
#include "tools/serve/message.h"

namespace satchel::tools::serve {

struct Services;

/// Members of the results' objects, without braces. Throw RpcError (without
/// id). The first two block on the disk; `envelope` as for call_tool.
std::string list_resources(Services& services, const Message& request,
                           const Caller& caller);
std::string read_resource(Services& services, const Message& request,
                          const Caller& caller, std::size_t envelope);
std::string resource_templates();

}  // namespace satchel::tools::serve
