#include "satchel/version.h"

#include "satchel/json.h"
#include "storage/engine_version.h"
#include "storage/folder.h"

namespace satchel {
Versions versions() {
  return {SATCHEL_VERSION, storage::folder_format, storage::engine_version()};
}

std::string to_object(const Versions& versions) {
  return Json{{"ok", true},
              {"program", versions.program},
              {"format", versions.format},
              {"rocksdb", versions.rocksdb}}
      .dump();
}

}  // namespace satchel
