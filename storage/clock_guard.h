#pragma once
// Whether the wall clock is believed enough to destroy what it says expired.

#include <cstdint>
#include <string>

namespace satchel::storage {

/// Remembers the last time seen and refuses a clock that went back, that lies
/// outside 2020 to 2200 or that leapt more than 400 days; a leap of more than
/// 30 days is believed after an hour of monotonic time. Refusing stops
/// reclamation only: reads go by the clock meanwhile. Times in microseconds.
/// Not thread-safe.
class ClockGuard {
 public:
  /// `last_seen` as stored; 0 when no time was seen yet.
  explicit ClockGuard(std::uint64_t last_seen) : last_seen_(last_seen) {}

  /// Whether `wall` is believed; then it becomes the last time seen. Otherwise
  /// `*reason` (may be null) is a sentence that says why and what to do.
  bool believes(std::uint64_t wall, std::uint64_t monotonic,
                std::string* reason);

  /// The operator says that `wall` is right: it becomes the last time seen,
  /// however far it leapt. Outside 2020 to 2200 it is refused all the same.
  bool accept(std::uint64_t wall, std::string* reason);

  std::uint64_t last_seen() const { return last_seen_; }

 private:
  std::uint64_t last_seen_;
  /// Monotonic time when the present leap was noticed; 0: no leap.
  std::uint64_t leap_since_ = 0;
};

}  // namespace satchel::storage
