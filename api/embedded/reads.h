#pragma once
// The calls that read one handle. All throw handle_not_found and
// handle_expired.

#include <cstdint>
#include <string_view>

#include "api/embedded/engine.h"
#include "satchel/handle.h"

namespace satchel::embedded {

Snapshot read_current(Engine& engine, std::string_view user,
                      std::string_view handle);

/// Throws version_gone, and invalid_input(version).
Snapshot read_version(Engine& engine, std::string_view user,
                      std::string_view handle, std::uint64_t version);

History read_history(Engine& engine, std::string_view user,
                     std::string_view handle);

/// Throws invalid_input(since).
Changes read_changes(Engine& engine, std::string_view user,
                     std::string_view handle, std::uint64_t since);

}  // namespace satchel::embedded
