#pragma once
// What every call of the server works with.

#include "tools/serve/audit.h"
#include "tools/serve/policy.h"
#include "tools/serve/store_source.h"

namespace satchel::tools::serve {

struct Services {
  StoreSource& store;
  Policy policy{};
  /// Null: nothing is recorded.
  AuditLog* audit = nullptr;
};

}  // namespace satchel::tools::serve
