#include "satchel/clock.h"

namespace satchel {
namespace {

class SystemClock final : public Clock {
 public:
  Time now() const override {
    return std::chrono::floor<std::chrono::microseconds>(
        std::chrono::system_clock::now());
  }
  std::chrono::microseconds monotonic() const override {
    return std::chrono::floor<std::chrono::microseconds>(
        std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace

std::shared_ptr<const Clock> system_clock() {
  return std::make_shared<SystemClock>();
}

}  // namespace satchel
