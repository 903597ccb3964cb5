#pragma once
// The prompt `resume`.

#include <string>

#include "tools/serve/message.h"

namespace satchel::tools::serve {

/// Members of the results' objects, without braces. get_prompt throws RpcError
/// (without id).
std::string prompt_list();
std::string get_prompt(const Message& request);

}  // namespace satchel::tools::serve
