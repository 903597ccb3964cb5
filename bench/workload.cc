#include "workload.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

namespace satchel::bench {
namespace {

/// All folders of this run, below one that is removed at the end.
class Folders {
 public:
  Folders() {
    const char* base = std::getenv("SATCHEL_BENCH_DIR");
    auto pattern =
        std::string(base != nullptr ? base : ".") + "/satchel-bench-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot make a folder like " + pattern);
    }
    root_ = pattern;
  }
  ~Folders() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  std::string next() { return root_ / std::to_string(count_++); }

 private:
  std::filesystem::path root_;
  int count_ = 0;
};

struct Stores {
  Folders folders;  // outlives the stores
  std::mutex mutex;
  std::map<std::pair<Durability, bool>, std::unique_ptr<HandleStore>> handles;
  std::map<Durability, std::unique_ptr<RawStore>> raw;
};

std::unique_ptr<Stores>& shared() {
  static std::unique_ptr<Stores> all;
  return all;
}

Stores& stores() { return *shared(); }

}  // namespace

Session::Session() { shared() = std::make_unique<Stores>(); }
Session::~Session() { shared().reset(); }

Document state_of(std::size_t bytes) {
  auto items = Json::array();
  std::size_t size = 500;  // the notes that ops set
  for (std::uint64_t i = 0; size < bytes; ++i) {
    items.push_back({{"item", i * 2654435761u}});
    size += 22;
  }
  return Document::from_json({{"items", std::move(items)}}).value();
}

Json op_number(std::uint64_t n) {
  auto note = std::to_string(n) + " ";
  note.resize(kOpBytes - 50, 'x');
  return op::set_key("", "note" + std::to_string(n % 4), note);
}

std::string new_folder() {
  const std::lock_guard lock(stores().mutex);
  return stores().folders.next();
}

HandleStore& shared_store(Durability durability, bool cold) {
  auto& all = stores();
  const std::lock_guard lock(all.mutex);
  auto& store = all.handles[{durability, cold}];
  if (!store) {
    Options options;
    options.durability = durability;
    options.sweeper = false;
    options.max_handles_per_user = 1'000'000;
    options.cache_bytes = cold ? 0 : std::size_t{4} << 30;
    if (cold) options.index_bytes = 0;
    store = HandleStore::open(all.folders.next(), options).value();
  }
  return *store;
}

RawStore& shared_raw(Durability durability) {
  auto& all = stores();
  const std::lock_guard lock(all.mutex);
  auto& raw = all.raw[durability];
  if (!raw) {
    raw = std::make_unique<RawStore>(all.folders.next(),
                                     durability == Durability::sync);
  }
  return *raw;
}

std::uint64_t bytes_written() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (io >> name >> value) {
    if (name == "wchar:") return value;
  }
  return 0;
}

}  // namespace satchel::bench
