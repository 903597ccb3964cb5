#include "satchel/handle.h"

namespace satchel {

std::string_view name(Change what) noexcept {
  switch (what) {
    case Change::mint:
      return "mint";
    case Change::save:
      return "save";
    case Change::patch:
      return "patch";
    case Change::touch:
      return "touch";
    case Change::revert:
      return "revert";
  }
  return "";
}

}  // namespace satchel
