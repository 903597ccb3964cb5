#include "satchel/kv.h"

#include <limits>

namespace satchel {

Result<std::int64_t> KvScope::decrement(std::string_view key,
                                        const KvCounterOptions& options) {
  constexpr auto kLimits = std::numeric_limits<std::int64_t>();
  auto negated = options;
  // Both ends are outside a counter's range.
  negated.by = options.by == kLimits.min() ? kLimits.max() : -options.by;
  return increment(key, negated);
}

}  // namespace satchel
