#include "storage/engine_version.h"

#include <rocksdb/version.h>

namespace satchel::storage {

std::string engine_version() {
  return rocksdb::GetRocksVersionAsString(/*with_patch=*/true);
}

}  // namespace satchel::storage
