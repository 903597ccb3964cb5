#pragma once
// "Did you mean …?"

#include <string>
#include <string_view>
#include <vector>

namespace satchel::tools {

/// The one of `known` that is spelled most like `given`; empty when none is
/// near.
std::string nearest(std::string_view given,
                    const std::vector<std::string>& known);

}  // namespace satchel::tools
