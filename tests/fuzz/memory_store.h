#pragma once

#include "satchel/store.h"

namespace satchel::fuzz {

/// A store in memory, with background work off: inputs repeat exactly.
inline std::unique_ptr<HandleStore> memory_store() {
  Options options;
  options.sweeper = false;
  options.durability = Durability::os;
  return HandleStore::open("memory:", options).value();
}

}  // namespace satchel::fuzz
