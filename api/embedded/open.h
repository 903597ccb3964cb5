#pragma once
// Opening an embedded store; for HandleStore::open and for tests.

#include <memory>
#include <string_view>

#include "api/embedded/embedded_store.h"
#include "satchel/options.h"

namespace satchel::embedded {

/// As HandleStore::open, on `file_system` (null: the operating system's).
Result<std::unique_ptr<EmbeddedStore>> open(
    std::string_view url, Options options,
    std::shared_ptr<storage::FileSystemHandle> file_system = nullptr);

}  // namespace satchel::embedded
