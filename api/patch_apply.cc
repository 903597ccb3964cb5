#include "patch_apply.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "json_write.h"
#include "patch_tree.h"

namespace satchel {
namespace {

__extension__ using Wide = __int128;

std::string_view advice(std::string_view why) {
  if (why == reason::kNotFound)
    return "A part of its path, or its key, is not there. Read the state, or "
           "set \"create\": true";
  if (why == reason::kExpectedObject)
    return "Its path leads through or to something that is no object. A dotted "
           "path follows object keys only; a JSON Pointer reaches array items";
  if (why == reason::kExpectedList)
    return "There is no list at its path. Use set_key, or another path";
  if (why == reason::kExpectedNumber)
    return "The member is no number. Use set_key to replace it";
  if (why == reason::kBadIndex)
    return "Its path has a part that is no array index. An index is decimal "
           "without leading zeros; use append to add an item";
  if (why == reason::kIndexOutOfRange)
    return "Its path has an index beyond the end of the array. Use append to "
           "add an item";
  if (why == reason::kTooDeep)
    return "The result would be nested deeper than 128 levels. Flatten the "
           "value";
  if (why == "integer_overflow")
    return "The sum is outside the 64-bit integer range. Use a smaller step, "
           "or a real";
  return "The sum is too large for a double. Use a smaller step";
}

struct Sum {
  Json value;
  std::string_view reason;
};

Wide widen(const Json& number) {
  return number.is_number_unsigned() ? Wide{number.get<std::uint64_t>()}
                                     : Wide{number.get<std::int64_t>()};
}

Sum add(const Json& a, const Json& b) {
  if (a.is_number_float() || b.is_number_float()) {
    const double sum = a.get<double>() + b.get<double>();
    if (!std::isfinite(sum)) return {nullptr, "not_finite"};
    return {sum, reason::kNone};
  }
  const Wide sum = widen(a) + widen(b);
  if (sum < Wide{std::numeric_limits<std::int64_t>::min()} ||
      sum > Wide{std::numeric_limits<std::uint64_t>::max()})
    return {nullptr, "integer_overflow"};
  if (sum < 0) return {static_cast<std::int64_t>(sum), reason::kNone};
  return {static_cast<std::uint64_t>(sum), reason::kNone};
}

/// Applies one op; the reason why it does not fit, or none.
class OpRunner {
 public:
  OpRunner(TreeEditor& editor, const PatchOp& op)
      : editor_(editor), op_(op), at_(resolve(editor.root(), op.path)) {}

  std::string_view run() {
    if (!at_.reason.empty()) return missing();
    switch (op_.kind) {
      case OpKind::append:
      case OpKind::add_to_set:
      case OpKind::remove_value:
        return at_.node->is_array() ? list() : reason::kExpectedList;
      default:
        return at_.node->is_object() ? object() : reason::kExpectedObject;
    }
  }

 private:
  // Levels of the container at the path, the root being 1.
  std::size_t level() const { return at_.location.size() + 1; }
  static bool fits(std::size_t levels) {
    return levels <= static_cast<std::size_t>(kMaxDepth);
  }
  std::size_t value_depth() const {
    return static_cast<std::size_t>(op_.value_depth);
  }

  std::string_view list() {
    if (op_.kind == OpKind::remove_value) {
      editor_.remove_items(at_.location, op_.value);
      return reason::kNone;
    }
    if (op_.kind == OpKind::add_to_set)
      for (const Json& item : at_.node->get_ref<const Json::array_t&>())
        if (same_canonical(item, op_.value)) return reason::kNone;
    if (!fits(level() + value_depth())) return reason::kTooDeep;
    editor_.add_item(at_.location, op_.value);
    return reason::kNone;
  }

  std::string_view object() {
    if (op_.kind == OpKind::merge) return merge();
    const std::size_t position = find_member(*at_.node, op_.key);
    if (op_.kind == OpKind::del_key) {
      if (position != kNoMember) editor_.remove_member(at_.location, position);
      return reason::kNone;
    }
    if (op_.kind == OpKind::increment) return increment(position);
    if (!fits(level() + value_depth())) return reason::kTooDeep;
    set(position, op_.key, op_.value);
    return reason::kNone;
  }

  std::string_view increment(std::size_t position) {
    if (position == kNoMember && !op_.create) return reason::kNotFound;
    static const Json kZero = 0u;
    const Json& old =
        position == kNoMember ? kZero : node_at(*at_.node, {position});
    if (!old.is_number()) return reason::kExpectedNumber;
    Sum sum = add(old, op_.value);
    if (sum.reason.empty()) set(position, op_.key, std::move(sum.value));
    return sum.reason;
  }

  std::string_view merge() {
    // The mapping is a level of its own.
    if (!fits(level() + value_depth() - 1)) return reason::kTooDeep;
    const auto& mapping = op_.value.get_ref<const Json::object_t&>();
    constexpr std::size_t kWorthAnIndex = 4096;
    std::optional<std::unordered_map<std::string, std::size_t>> index;
    if (mapping.size() > 8 &&
        mapping.size() * at_.node->size() > kWorthAnIndex) {
      index.emplace();
      std::size_t position = 0;
      for (const auto& member : at_.node->get_ref<const Json::object_t&>())
        index->emplace(member.first, position++);
    }
    for (const auto& [key, value] : mapping) {
      std::size_t position = kNoMember;
      if (!index) {
        position = find_member(*at_.node, key);
      } else if (const auto found = index->find(key); found != index->end()) {
        position = found->second;
      }
      set(position, key, value);
    }
    return reason::kNone;
  }

  void set(std::size_t position, const std::string& key, Json value) {
    if (position == kNoMember) {
      editor_.add_member(at_.location, key, std::move(value));
    } else {
      editor_.replace_member(at_.location, position, std::move(value));
    }
  }

  // A member on the way is missing: create builds the rest of the path in one
  // new member, and removing from nothing is no change.
  std::string_view missing() {
    if (at_.reason != reason::kNotFound || !op_.create) return at_.reason;
    Json made;
    switch (op_.kind) {
      case OpKind::del_key:
      case OpKind::remove_value:
        return reason::kNone;
      case OpKind::append:
      case OpKind::add_to_set:
        made = Json::array();
        made.push_back(op_.value);
        break;
      case OpKind::merge:
        made = op_.value;
        break;
      case OpKind::set_key:
        made = Json::object();
        made[op_.key] = op_.value;
        break;
      case OpKind::increment: {
        Sum sum = add(0u, op_.value);
        made = Json::object();
        made[op_.key] = std::move(sum.value);
        break;
      }
    }
    const auto& segments = op_.path.segments;
    const std::size_t new_levels = segments.size() - at_.matched;
    const std::size_t inside =
        op_.kind == OpKind::merge ? value_depth() - 1 : value_depth();
    if (!fits(level() + new_levels + inside)) return reason::kTooDeep;
    for (std::size_t i = segments.size() - 1; i > at_.matched; --i) {
      Json parent = Json::object();
      parent[segments[i]] = std::move(made);
      made = std::move(parent);
    }
    editor_.add_member(at_.location, segments[at_.matched], std::move(made));
    return reason::kNone;
  }

  TreeEditor& editor_;
  const PatchOp& op_;
  Resolved at_;
};

Error too_large(std::size_t size, std::size_t limit, const PatchOp& op,
                std::size_t index) {
  Json details = Json::object();
  details["size_bytes"] = size;
  details["limit_bytes"] = limit;
  details["op"] = name(op.kind);
  details["index"] = index;
  details["path"] = clipped(op.path_text, 1024);
  return Error(ErrorCode::state_too_large,
               "The state would be " + std::to_string(size) +
                   " bytes, over its limit of " + std::to_string(limit) +
                   ", so nothing was applied. Remove something first, or keep "
                   "part of it under another handle.",
               std::move(details));
}

}  // namespace

Result<bool> apply_ops(Json& root, std::size_t& size_bytes,
                       const std::vector<PatchOp>& ops, std::size_t max_bytes) {
  TreeEditor editor(root, size_bytes);
  const auto over = [&] {
    return editor.size() > max_bytes && editor.size() > editor.first_size();
  };
  constexpr auto kNone = static_cast<std::size_t>(-1);
  auto first_over = kNone;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string_view why = OpRunner(editor, ops[i]).run();
    if (!why.empty())
      return refuse_op(name(ops[i].kind), i, ops[i].path_text, why,
                       advice(why));
    if (!over()) {
      first_over = kNone;
    } else if (first_over == kNone) {
      first_over = i;
    }
  }
  if (first_over != kNone)
    return too_large(editor.size(), max_bytes, ops[first_over], first_over);
  const bool changed = editor.changed();
  // What cancels out is undone: the tree keeps its first numbers' types, too.
  if (changed) editor.keep();
  return changed;
}

}  // namespace satchel
