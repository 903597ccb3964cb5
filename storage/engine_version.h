#pragma once
// Which storage engine this build runs on.

#include <string>

namespace satchel::storage {

/// Version of the RocksDB library that is loaded, for example "7.8.3".
std::string engine_version();

}  // namespace satchel::storage
