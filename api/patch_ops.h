#pragma once
// Patch ops, read from their wire form (satchel/patch.h).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "path.h"
#include "satchel/document.h"
#include "satchel/error.h"
#include "satchel/json.h"

namespace satchel {

enum class OpKind : std::uint8_t {
  append,
  set_key,
  del_key,
  merge,
  increment,
  add_to_set,
  remove_value,
};
std::string_view name(OpKind kind) noexcept;

struct PatchOp {
  OpKind kind = OpKind::append;
  std::string path_text;
  Path path;
  std::string key;
  /// The member `value`, `mapping` or `by`.
  Json value;
  bool create = false;
  /// depth_of(value).
  int value_depth = 0;
};

inline constexpr std::size_t kMaxOps = 1000;

/// The ops of one op or an array of at most kMaxOps. Errors: invalid_input(ops)
/// for anything else, patch_error for an op that is malformed.
Result<std::vector<PatchOp>> parse_ops(const Document& ops);

/// A patch_error: details op, index, path, reason. `advice` is a sentence.
Error refuse_op(std::string_view op, std::size_t index, std::string_view path,
                std::string_view reason, std::string_view advice);

/// The longest prefix of at most `limit` bytes that ends between characters.
std::string clipped(std::string_view text, std::size_t limit);

}  // namespace satchel
