#include "tools/environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "tools/arguments.h"

namespace satchel::tools {
namespace {

void refuse_empty(const std::optional<std::string>& option, const char* name) {
  if (option && option->empty()) {
    throw invalid(name, std::string("--") + name +
                            " is empty; give a value or leave the option out");
  }
}

/// $HOME without a slash at its end. "/" is refused: a daemon without a home
/// must not fill the root folder.
std::string home() {
  const auto home = variable("HOME");
  struct stat info = {};
  const char* wrong =
      !home ? "HOME is not set"
      : ::stat(home->c_str(), &info) != 0 || !S_ISDIR(info.st_mode)
          ? "HOME is not a directory"
      : home->find_first_not_of('/') == home->npos ? "HOME is the root folder"
                                                   : nullptr;
  if (wrong) {
    throw invalid("store", std::string(wrong) +
                               ", so the store has no place; name a folder "
                               "with --store or SATCHEL_STORE");
  }
  return home->substr(0, home->find_last_not_of('/') + 1);
}

}  // namespace

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

std::uint64_t max_state_bytes() {
  const auto text = variable("SATCHEL_MAX_STATE_BYTES");
  if (!text) return Options().max_state_bytes;
  std::uint64_t bytes = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, bytes);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  if (error != std::errc() || stop != end || bytes < 2 || bytes > kMost) {
    throw invalid("store",
                  "SATCHEL_MAX_STATE_BYTES must be a whole number of bytes "
                  "from 2 to 1073741824, not " +
                      shown(*text));
  }
  return bytes;
}

Durability durability(const std::optional<std::string>& option) {
  const auto text = option ? option : variable("SATCHEL_DURABILITY");
  if (!text) return Durability::sync;
  if (*text == "sync") return Durability::sync;
  if (*text == "interval") return Durability::interval;
  if (*text == "os") return Durability::os;
  const std::string rest = " must be sync, interval or os, not " + shown(*text);
  if (option) throw wrong_usage("--durability" + rest);
  throw invalid("store", "SATCHEL_DURABILITY" + rest);
}

std::string expand_home(const std::string& path) {
  if (!path.starts_with("~/")) return path;
  return home() + path.substr(1);
}

std::string store_place(const std::optional<std::string>& option) {
  refuse_empty(option, "store");
  const auto place = option ? option : variable("SATCHEL_STORE");
  if (place) return expand_home(*place);
  const auto data = variable("XDG_DATA_HOME");
  // The XDG specification says to ignore a relative one.
  if (data && data->starts_with('/')) return *data + "/satchel";
  return home() + "/.local/share/satchel";
}

std::string user_name(const std::optional<std::string>& option) {
  refuse_empty(option, "user");
  if (option) return *option;
  return variable("SATCHEL_USER").value_or("local");
}

std::string writer_name(const std::optional<std::string>& option) {
  refuse_empty(option, "writer");
  if (option) return *option;
  if (const auto writer = variable("SATCHEL_WRITER")) return *writer;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return {};
  return host.data();
}

}  // namespace satchel::tools
