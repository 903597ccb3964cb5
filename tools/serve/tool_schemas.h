#pragma once
// What clients and models are told about the tools.

#include <string>
#include <string_view>

namespace satchel::tools::serve {

/// JSON text of the array of tools.
std::string_view tool_schemas();

/// What a model is told about the server as a whole.
std::string_view instructions();

}  // namespace satchel::tools::serve
