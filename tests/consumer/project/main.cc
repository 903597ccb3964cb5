// A program of somebody else: mints and gets, in memory and on disk.

#include <satchel/async.h>
#include <satchel/objects.h>
#include <satchel/store.h>

#include <iostream>
#include <string>

namespace other {
std::string read(satchel::HandleStore& store, const std::string& handle);
}

namespace {

std::string mint(satchel::HandleStore& store) {
  const satchel::Json state = {{"title", "tides"}, {"sources", {"a", "b"}}};
  return store.mint("research", state, {.user = "alice"}).value().handle;
}

bool right(const std::string& text) {
  std::cout << text << "\n";
  return text == R"({"title":"tides","sources":["a","b"]})";
}

bool works_in_memory() {
  auto store = satchel::HandleStore::open("memory:").value();
  return right(other::read(*store, mint(*store)));
}

bool works_on_disk() {
  auto store = satchel::HandleStore::open("consumer-state").value();
  const auto handle = mint(*store);
  store->close().value();
  store = satchel::HandleStore::open("consumer-state").value();
  return right(other::read(*store, handle));
}

}  // namespace

int main() {
  try {
    return works_in_memory() && works_on_disk() ? 0 : 1;
  } catch (const satchel::Error& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
