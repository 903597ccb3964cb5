#pragma once
// How long a handle lives from a call on.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

namespace satchel {

/// A lifetime argument: keep what the handle has, never expire, or a duration
/// counted from the moment of the call. A duration is at least a millisecond
/// and at most 36,500 days; others are refused as invalid_input(ttl) by the
/// call that receives them.
class Ttl {
 public:
  enum class Kind : std::uint8_t { keep, persist, duration };

  /// Keeps the expiry as it is; for a new handle: never expires.
  constexpr Ttl() = default;

  template <class Rep, class Period>
  constexpr Ttl(std::chrono::duration<Rep, Period> d)  // NOLINT: implicit
      : kind_(Kind::duration), us_(to_us(d)) {}

  static constexpr Ttl keep() { return Ttl(); }
  static constexpr Ttl persist() {
    Ttl t;
    t.kind_ = Kind::persist;
    return t;
  }

  constexpr Kind kind() const { return kind_; }
  /// The duration, saturated; 0 when it is not a number.
  constexpr std::chrono::microseconds duration() const {
    return std::chrono::microseconds(us_);
  }

 private:
  template <class Rep, class Period>
  static constexpr std::int64_t to_us(std::chrono::duration<Rep, Period> d) {
    const auto us = static_cast<long double>(d.count()) * Period::num *
                    1'000'000.0L / Period::den;
    if (!(us == us)) return 0;
    constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
    if (us >= static_cast<long double>(kMax)) return kMax;
    if (us <= -static_cast<long double>(kMax)) return -kMax;
    return static_cast<std::int64_t>(us);
  }

  Kind kind_ = Kind::keep;
  std::int64_t us_ = 0;
};

}  // namespace satchel
