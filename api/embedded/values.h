#pragma once
// Between the public values and the stored ones.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "satchel/clock.h"
#include "satchel/handle.h"
#include "storage/format.h"

namespace satchel::embedded {

/// The end of the year 9999; later times are taken for it.
inline constexpr std::uint64_t kEndOfTime = 253'402'300'799'999'999;

inline std::uint64_t to_stored(Time time) {
  const auto us = time.time_since_epoch().count();
  return us < 0 ? 0 : std::min(static_cast<std::uint64_t>(us), kEndOfTime);
}

inline Time to_time(std::uint64_t stored) {
  return Time(std::chrono::microseconds(std::min(stored, kEndOfTime)));
}

inline std::optional<Time> to_expiry(std::uint64_t deadline) {
  if (deadline == storage::kNever) return std::nullopt;
  return to_time(deadline);
}

inline HandleInfo to_info(std::string_view handle, const storage::Head& head) {
  return {std::string(handle),   head.kind,
          head.version,          to_time(head.created),
          to_time(head.updated), to_expiry(head.deadline),
          head.last_writer};
}

inline Change to_change(storage::What what) {
  switch (what) {
    case storage::What::mint:
      return Change::mint;
    case storage::What::save:
      return Change::save;
    case storage::What::patch:
      return Change::patch;
    case storage::What::touch:
      return Change::touch;
    case storage::What::revert:
      return Change::revert;
  }
  return Change::mint;
}

}  // namespace satchel::embedded
