#pragma once
// The JSON tree type of the public interface.

#include <nlohmann/json.hpp>

namespace satchel {

/// A JSON tree that keeps the order of keys.
using Json = nlohmann::ordered_json;

}  // namespace satchel
