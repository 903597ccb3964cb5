#pragma once
// Applies patch ops to a state's tree.

#include <cstddef>
#include <vector>

#include "patch_ops.h"
#include "satchel/error.h"
#include "satchel/json.h"

namespace satchel {

/// Applies `ops` in place, all or none; returns whether the canonical text
/// changed. `size_bytes` is the canonical size of `root` before and after. The
/// cost is that of the ops, not of the state. On an error, or an exception, the
/// tree and the size are as before, the order of keys included.
///
/// Errors: patch_error for an op that does not fit (a result deeper than
/// kMaxDepth included); state_too_large (details size_bytes, limit_bytes, op,
/// index, path) when the result is larger than `max_bytes` and than before: a
/// state over a lowered cap may shrink.
Result<bool> apply_ops(Json& root, std::size_t& size_bytes,
                       const std::vector<PatchOp>& ops, std::size_t max_bytes);

}  // namespace satchel
