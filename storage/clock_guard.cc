#include "storage/clock_guard.h"

namespace satchel::storage {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;
constexpr std::uint64_t kHour = 3600 * kSecond;
constexpr std::uint64_t kDay = 24 * kHour;
constexpr std::uint64_t kYear2020 = 1'577'836'800 * kSecond;
constexpr std::uint64_t kYear2200 = 7'258'118'400 * kSecond;

bool plausible(std::uint64_t wall) {
  return wall >= kYear2020 && wall < kYear2200;
}

bool refuse(std::string* reason, const std::string& why,
            const std::string& remedy) {
  if (reason != nullptr) {
    *reason = "nothing is reclaimed: the clock " + why + "; " + remedy;
  }
  return false;
}

bool refuse_era(std::string* reason) {
  return refuse(reason, "is outside the years 2020 to 2199", "set it right");
}

}  // namespace

bool ClockGuard::believes(std::uint64_t wall, std::uint64_t monotonic,
                          std::string* reason) {
  const std::string remedy =
      "set it right, or say that it is right with sweep --accept-clock";
  if (!plausible(wall)) return refuse_era(reason);
  if (wall < last_seen_) {
    return refuse(reason, "is earlier than the last time seen", remedy);
  }
  const auto ahead = last_seen_ == 0 ? 0 : wall - last_seen_;
  if (ahead > 400 * kDay) {
    return refuse(reason, "is more than 400 days ahead of the last time seen",
                  remedy);
  }
  if (ahead > 30 * kDay) {
    if (leap_since_ == 0) leap_since_ = monotonic == 0 ? 1 : monotonic;
    if (monotonic < leap_since_ + kHour) {
      return refuse(reason, "is more than 30 days ahead of the last time seen",
                    remedy +
                        " (a process that stays open believes it after "
                        "an hour)");
    }
  }
  leap_since_ = 0;
  last_seen_ = wall;
  return true;
}

bool ClockGuard::accept(std::uint64_t wall, std::string* reason) {
  if (!plausible(wall)) return refuse_era(reason);
  leap_since_ = 0;
  last_seen_ = wall;
  return true;
}

}  // namespace satchel::storage
