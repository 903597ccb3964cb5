#include "storage/clock_guard.h"

namespace satchel::storage {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;
constexpr std::uint64_t kHour = 3600 * kSecond;
constexpr std::uint64_t kDay = 24 * kHour;
constexpr std::uint64_t kYear2020 = 1'577'836'800 * kSecond;
constexpr std::uint64_t kYear2200 = 7'258'118'400 * kSecond;

}  // namespace

bool ClockGuard::believes(std::uint64_t wall, std::uint64_t monotonic,
                          std::string* reason) {
  const auto refuse = [&](const std::string& why) {
    if (reason != nullptr) {
      *reason = "nothing is reclaimed: the clock " + why +
                "; set it right, or say that it is right with sweep "
                "--accept-clock";
    }
    return false;
  };
  if (wall < kYear2020 || wall >= kYear2200) {
    return refuse("is outside the years 2020 to 2199");
  }
  if (wall < last_seen_) return refuse("is earlier than the last time seen");
  const auto ahead = last_seen_ == 0 ? 0 : wall - last_seen_;
  if (ahead > 400 * kDay) {
    return refuse("is more than 400 days ahead of the last time seen");
  }
  if (ahead > 30 * kDay) {
    if (leap_since_ == 0) leap_since_ = monotonic == 0 ? 1 : monotonic;
    if (monotonic < leap_since_ + kHour) {
      return refuse(
          "leapt more than 30 days ahead of the last time seen; it is believed "
          "after an hour");
    }
  }
  leap_since_ = 0;
  last_seen_ = wall;
  return true;
}

void ClockGuard::accept(std::uint64_t wall) {
  leap_since_ = 0;
  last_seen_ = wall;
}

}  // namespace satchel::storage
