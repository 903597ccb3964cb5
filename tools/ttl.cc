#include "tools/ttl.h"

#include <chrono>
#include <limits>
#include <string_view>

#include "tools/arguments.h"

namespace satchel::tools {
namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
  std::string_view name;
  std::uint64_t microseconds;
};
constexpr Unit kUnits[] = {{"ms", 1'000},
                           {"s", 1'000'000},
                           {"m", 60'000'000},
                           {"h", 3'600'000'000},
                           {"d", 86'400'000'000}};

Error not_a_ttl(const std::string& text) {
  return invalid("ttl",
                 "--ttl takes a number with a unit (ms, s, m, h or d), "
                 "for example 90s, 15m, 1.5h or 7d, not " +
                     shown(text));
}

/// The digits at the front of `text`, which it loses.
std::string_view take_digits(std::string_view* text) {
  const auto end =
      std::min(text->find_first_not_of("0123456789"), text->size());
  const std::string_view digits = text->substr(0, end);
  text->remove_prefix(end);
  return digits;
}

}  // namespace

Ttl parse_ttl(const std::string& text) {
  if (text.starts_with('-')) {
    throw invalid("ttl", "--ttl must be a positive time, not " + shown(text));
  }
  std::string_view rest = text;
  const std::string_view whole = take_digits(&rest);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = take_digits(&rest);
    if (fraction.empty()) throw not_a_ttl(text);
  }
  if (whole.empty()) throw not_a_ttl(text);
  for (const Unit& unit : kUnits) {
    if (rest != unit.name) continue;
    constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
    Wide units = 0;
    for (const char c : whole) {
      units = std::min<Wide>(units * 10 + static_cast<Wide>(c - '0'), kMost);
    }
    Wide part = 0;
    Wide scale = 1;
    for (const char c : fraction.substr(0, 18)) {
      part = part * 10 + static_cast<Wide>(c - '0');
      scale *= 10;
    }
    const Wide us =
        units * unit.microseconds + part * unit.microseconds / scale;
    return std::chrono::microseconds(
        static_cast<std::int64_t>(std::min(us, kMost)));
  }
  throw not_a_ttl(text);
}

Ttl ttl_of(const std::optional<std::string>& ttl, bool persist) {
  if (ttl && persist) {
    throw wrong_usage("--ttl and --persist exclude each other; give one");
  }
  if (persist) return Ttl::persist();
  return ttl ? parse_ttl(*ttl) : Ttl::keep();
}

}  // namespace satchel::tools
