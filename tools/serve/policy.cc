#include "tools/serve/policy.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "tools/arguments.h"

namespace satchel::tools::serve {
namespace {

/// Rounded down to six digits: what is sent back is within the maximum.
std::string in_days(std::chrono::microseconds time) {
  const double days =
      std::chrono::duration<double, std::ratio<86400>>(time).count();
  const double rounded = std::floor(days * 1e6) / 1e6;
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(),
                                 rounded > 0 ? rounded : days);
  return {text.data(), end.ptr};
}

Error refused(const std::string& message) {
  return invalid("ttl_days", message);
}

}  // namespace

void Policy::validate() const {
  if (default_ttl && max_ttl && *default_ttl > *max_ttl) {
    throw wrong_usage("--default-ttl is longer than --max-ttl");
  }
  if (default_ttl && require_ttl) {
    throw wrong_usage(
        "--default-ttl and --require-ttl exclude each other; give one");
  }
}

Ttl Policy::for_create(const Ttl& asked) const {
  if (asked.kind() != Ttl::Kind::keep) return for_update(asked);
  if (require_ttl) {
    throw refused(
        "this server needs to be told how long new state shall live; say "
        "ttl_days" +
        (max_ttl ? ", at most " + in_days(*max_ttl) : std::string()));
  }
  if (default_ttl) return *default_ttl;
  if (max_ttl) return *max_ttl;
  return asked;
}

Ttl Policy::for_update(const Ttl& asked) const {
  if (asked.kind() == Ttl::Kind::persist && max_ttl) {
    throw refused("this server keeps nothing for ever; say ttl_days, at most " +
                  in_days(*max_ttl));
  }
  if (asked.kind() == Ttl::Kind::persist && require_ttl) {
    throw refused("this server keeps nothing for ever; say ttl_days");
  }
  if (asked.kind() == Ttl::Kind::duration && max_ttl &&
      asked.duration() > *max_ttl) {
    throw refused("ttl_days is at most " + in_days(*max_ttl) +
                  " on this server");
  }
  return asked;
}

}  // namespace satchel::tools::serve
