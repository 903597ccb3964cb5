#pragma once
// Errors of the library, told to a model that called a tool.

#include <string_view>

#include "satchel/error.h"

namespace satchel::tools::serve {

/// The same error with the tools' names of arguments and a message that says
/// which tool to call next. `handle` is what the call named.
Error for_model(const Error& error, std::string_view handle);

}  // namespace satchel::tools::serve
