#pragma once
// Time as the store sees it. The store never asks the system itself.

#include <chrono>
#include <cstdint>
#include <memory>

namespace satchel {

/// A point in time, UTC, in microseconds since 1970.
using Time = std::chrono::sys_time<std::chrono::microseconds>;

/// A source of time; implementations must be thread-safe and must not throw.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Wall time. May step in either direction; the store copes.
  virtual Time now() const = 0;
  /// Time that never steps, from any origin; used for delays only.
  virtual std::chrono::microseconds monotonic() const = 0;
};

/// The system's clocks.
std::shared_ptr<const Clock> system_clock();

}  // namespace satchel
