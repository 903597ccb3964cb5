#pragma once
// When a handle ends, and when its records may be destroyed.

#include <algorithm>
#include <cstdint>

#include "satchel/ttl.h"
#include "storage/format.h"

namespace satchel::embedded {

struct Lifetime {
  std::uint64_t deadline = storage::kNever;
  std::uint64_t ttl = storage::kNever;
  /// At or after the deadline; the slack lets most renewals keep the records
  /// that they have.
  std::uint64_t gc = storage::kNever;
};

/// keep and persist: for ever.
inline Lifetime lifetime_from(const Ttl& ttl, std::uint64_t now) {
  if (ttl.kind() != Ttl::Kind::duration) return {};
  constexpr std::uint64_t kDay = 24ull * 3600 * 1'000'000;
  const auto us = static_cast<std::uint64_t>(ttl.duration().count());
  return {now + us, us, now + us + std::min(us / 8, kDay)};
}

/// What the head has.
inline Lifetime lifetime_of(const storage::Head& head) {
  return {head.deadline, head.ttl, head.gc};
}

}  // namespace satchel::embedded
