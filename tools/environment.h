#pragma once
// The environment variables of the program, checked. An empty variable counts
// as unset.

#include <cstdint>
#include <optional>
#include <string>

#include "satchel/options.h"

namespace satchel::tools {

std::optional<std::string> variable(const char* name);

/// SATCHEL_MAX_STATE_BYTES, or the library's default.
std::uint64_t max_state_bytes();

/// The durability named on the command line, else by SATCHEL_DURABILITY.
Durability durability(const std::optional<std::string>& option);

/// The folder or URL that `option`, else SATCHEL_STORE, names, with "~/" at its
/// start expanded; else the default folder.
std::string store_place(const std::optional<std::string>& option);

/// "~/" at the start of `path` becomes the home folder.
std::string expand_home(const std::string& path);

/// The user and the writer of this run.
std::string user_name(const std::optional<std::string>& option);
std::string writer_name(const std::optional<std::string>& option);

}  // namespace satchel::tools
