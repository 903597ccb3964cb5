#pragma once
// The rules of key-value arguments and the errors of key-value calls, which
// carry two codes: the library's and, as kv_code, that of @guuey/state.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "satchel/document.h"
#include "satchel/error.h"
#include "satchel/kv.h"
#include "satchel/options.h"
#include "satchel/ttl.h"

namespace satchel::embedded {

/// Counters and their steps lie within ± this: 2^53 − 1, what every JSON reader
/// keeps exact.
inline constexpr std::int64_t kMaxCounter = (std::int64_t{1} << 53) - 1;

// Each throws invalid_input with the field's name unless its rule is kept.
void check_app(std::string_view app);
void check_key(std::string_view key, const Options& options);
/// Empty is allowed.
void check_prefix(std::string_view prefix, const Options& options);
/// options.after, which is not empty.
void check_after(const KvKeysOptions& keys, const Options& options);
void check_mget(const std::vector<std::string>& keys, const Options& options);
void check_step(std::int64_t by);
/// Returns it in microseconds.
std::uint64_t checked_kv_ttl(const Ttl& ttl, const Options& options);
/// The JSON in `input`, not over the limit of a value; `field` is its name.
Document checked_value(const JsonInput& input, std::string_view field,
                       const Options& options);

Error value_too_large(std::uint64_t size, std::uint64_t limit);
/// `needed`: what the scope would hold.
Error kv_quota_exceeded(std::uint64_t used, std::uint64_t needed,
                        std::uint64_t limit);
Error type_mismatch(std::string_view key, std::string_view actual);
Error condition_failed(std::string_view what);
Error counter_out_of_range();

}  // namespace satchel::embedded
