// A second source file, so that what the headers define is linked twice.

#include <satchel/async.h>
#include <satchel/objects.h>
#include <satchel/store.h>

#include <string>

namespace other {

std::string read(satchel::HandleStore& store, const std::string& handle) {
  return store.get(handle, {.user = "alice"}).value().state.value().text();
}

}  // namespace other
