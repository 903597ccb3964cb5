#include "satchel/kv.h"

#include <limits>
#include <utility>

namespace satchel {

Error with_kv_code(Error error) {
  const auto code = [&]() -> const char* {
    switch (error.code) {
      case ErrorCode::quota_exceeded:
        return "QUOTA_EXCEEDED";
      case ErrorCode::value_too_large:
        return "VALUE_TOO_LARGE";
      case ErrorCode::type_mismatch:
        return "TYPE_MISMATCH";
      case ErrorCode::invalid_input: {
        const auto field = error.details.value("field", "");
        if (field == "key") return "INVALID_KEY";
        if (field == "ttl") return "INVALID_TTL";
        if (field == "user" || field == "app") return "INVALID_CONTEXT";
        if (field == "store" || field == "arguments") return nullptr;
        return "INVALID_ARGUMENT";
      }
      default:
        return nullptr;
    }
  }();
  if (code != nullptr) error.details["kv_code"] = code;
  return error;
}

Result<std::int64_t> KvScope::decrement(std::string_view key,
                                        const KvCounterOptions& options) {
  constexpr auto kLimits = std::numeric_limits<std::int64_t>();
  auto negated = options;
  // Both ends are outside a counter's range.
  negated.by = options.by == kLimits.min() ? kLimits.max() : -options.by;
  return increment(key, negated);
}

}  // namespace satchel
