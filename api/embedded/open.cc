#include "api/embedded/open.h"

#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "api/embedded/errors.h"
#include "api/embedded/values.h"

namespace satchel::embedded {
namespace {

/// ${XDG_DATA_HOME:-$HOME/.local/share}/satchel; an empty variable is unset.
std::string default_folder() {
  const char* data = std::getenv("XDG_DATA_HOME");
  // The XDG specification ignores a relative path.
  if (data != nullptr && data[0] == '/') return std::string(data) + "/satchel";
  const char* home = std::getenv("HOME");
  struct stat info {};
  if (home == nullptr || home[0] != '/' || home[1] == '\0' ||
      stat(home, &info) != 0 || !S_ISDIR(info.st_mode)) {
    throw invalid("store",
                  "there is no home folder to keep the store in; name a folder "
                  "for it, for example in the environment variable "
                  "SATCHEL_STORE");
  }
  return std::string(home) + "/.local/share/satchel";
}

/// The folder that `url` names; empty: in memory.
std::string folder_of(std::string_view url) {
  constexpr std::string_view kScheme = "rocksdb://";
  if (url.empty()) return default_folder();
  if (url.find('\0') != url.npos) {
    throw invalid("store", "a store's path has no NUL in it");
  }
  if (url == "memory:") return {};
  if (url.starts_with(kScheme)) {
    const auto path = url.substr(kScheme.size());
    if (!path.starts_with('/')) {
      throw invalid("store",
                    "a store's URL has an absolute path: rocksdb:///path");
    }
    return std::string(path);
  }
  return std::string(url);
}

storage::DatabaseOptions database_options(const Options& options) {
  storage::DatabaseOptions result;
  switch (options.durability) {
    case Durability::sync:
      result.sync = storage::Sync::always;
      break;
    case Durability::interval:
      result.sync = storage::Sync::interval;
      break;
    case Durability::os:
      result.sync = storage::Sync::never;
      break;
  }
  result.read_only = options.read_only;
  result.lock_wait = options.lock_wait;
  result.identity = options.identity;
  result.now = to_stored(options.clock->now());
  if (const auto listener = options.listener) {
    result.on_background_error = [listener](const std::string& message) {
      listener->on_background_error({ErrorCode::backend_error, message});
    };
    result.on_bytes_dropped = [listener](std::uint64_t bytes) {
      listener->on_bytes_dropped(bytes);
    };
    result.on_gap = [listener](std::uint64_t bytes) {
      listener->on_gap(bytes);
    };
    result.on_compaction = [listener](std::uint64_t in, std::uint64_t out) {
      listener->on_compaction(in, out);
    };
  }
  return result;
}

}  // namespace

Result<std::unique_ptr<EmbeddedStore>> open(
    std::string_view url, Options options,
    std::shared_ptr<storage::FileSystemHandle> file_system) {
  try {
    if (auto valid = options.validate(); !valid.ok()) return valid.error();
    if (!options.clock) options.clock = system_clock();
    auto settings = database_options(options);
    settings.file_system = std::move(file_system);
    auto db = storage::Database::open(folder_of(url), settings);
    // Read-only and nothing there: an empty store.
    if (!db) {
      settings.read_only = false;
      settings.file_system = nullptr;
      db = storage::Database::open({}, settings);
    }
    return std::make_unique<EmbeddedStore>(std::move(options), std::move(db));
  } catch (...) {
    return current_error();
  }
}

}  // namespace satchel::embedded

namespace satchel {

Result<std::unique_ptr<HandleStore>> HandleStore::open(std::string_view url,
                                                       Options options) {
  auto store = embedded::open(url, std::move(options));
  if (!store.ok()) return std::move(store).error();
  return std::unique_ptr<HandleStore>(std::move(store).value());
}

}  // namespace satchel
