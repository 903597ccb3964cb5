#pragma once
// Opening the store that a run is about.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "satchel/store.h"
#include "tools/command.h"

namespace satchel::tools {

/// For commands that only look: writes nothing, a missing store is empty.
std::unique_ptr<HandleStore> open_to_read(Run& run);

/// For commands that write: makes a missing store, waits a while for one that
/// is in use.
std::unique_ptr<HandleStore> open_to_write(Run& run);

/// For a server: like open_to_write, and the store reclaims by itself what
/// expired. `identity` is Options::identity; `lock_wait` Options::lock_wait;
/// none: as the commands wait.
std::unique_ptr<HandleStore> open_to_serve(
    Run& run, const std::string& identity,
    std::optional<std::chrono::milliseconds> lock_wait = {});

}  // namespace satchel::tools
