#pragma once
// How long state may live, as the operator says. Checked on every call, in the
// server, never left to the model.

#include <chrono>
#include <optional>

#include "satchel/ttl.h"

namespace satchel::tools::serve {

struct Policy {
  /// What a create without a lifetime gets.
  std::optional<std::chrono::microseconds> default_ttl;
  /// The longest lifetime that may be asked for; also what a create without
  /// one gets when there is no default.
  std::optional<std::chrono::microseconds> max_ttl;
  /// Whether a create must say how long.
  bool require_ttl = false;

  /// Throws invalid_input(arguments) when the three contradict each other.
  void validate() const;

  /// The lifetime of a new handle; `asked` is keep when nothing was. Throws
  /// invalid_input(ttl_days) for what the policy does not allow.
  Ttl for_create(const Ttl& asked) const;
  /// The same for an update or a touch, where keep changes nothing.
  Ttl for_update(const Ttl& asked) const;
};

}  // namespace satchel::tools::serve
