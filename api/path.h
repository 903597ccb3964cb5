#pragma once
// Paths into a state, as patch ops and get take them: dotted ("profile.tags":
// object keys only; "" is the root) or, when they begin with '/', JSON Pointers
// (RFC 6901), which also reach array items.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "satchel/document.h"
#include "satchel/error.h"
#include "satchel/json.h"

namespace satchel {

/// Why a path or an op is refused; the `reason` of a patch_error.
namespace reason {
inline constexpr std::string_view kNone = "";
/// "a..b", ".a", "a.": only a JSON Pointer can reach an empty key.
inline constexpr std::string_view kEmptySegment = "empty_segment";
/// '~' in a JSON Pointer that is neither ~0 nor ~1.
inline constexpr std::string_view kBadEscape = "bad_escape";
/// Over kMaxDepth levels.
inline constexpr std::string_view kTooDeep = "too_deep";
/// A member on the way, or at its end, does not exist.
inline constexpr std::string_view kNotFound = "not_found";
/// Something else than an object where a member was asked for.
inline constexpr std::string_view kExpectedObject = "expected_object";
inline constexpr std::string_view kExpectedList = "expected_list";
inline constexpr std::string_view kExpectedNumber = "expected_number";
/// Not a decimal number without leading zeros; "-" is none.
inline constexpr std::string_view kBadIndex = "bad_index";
inline constexpr std::string_view kIndexOutOfRange = "index_out_of_range";
}  // namespace reason

struct Path {
  std::vector<std::string> segments;
  /// A JSON Pointer.
  bool pointer = false;
};

struct ParsedPath {
  Path path;
  /// Empty: the path is well formed.
  std::string_view reason;
};

ParsedPath parse_path(std::string_view text);

/// Appends one segment of a JSON Pointer, escaped, with its '/'.
void append_segment(std::string_view segment, std::string* pointer);

/// The array index that `segment` is.
std::optional<std::size_t> array_index(std::string_view segment);

inline constexpr std::size_t kNoMember = static_cast<std::size_t>(-1);
/// The position of `key` among the members of an object.
std::size_t find_member(const Json& object, std::string_view key);

/// Positions in containers on the way from the root to a node.
using Location = std::vector<std::size_t>;

/// How far a path leads.
struct Resolved {
  /// The last node on the way that exists.
  Json* node = nullptr;
  Location location;
  /// Segments that led to `node`.
  std::size_t matched = 0;
  /// Empty: all of them did. kNotFound: `node` is an object without the next.
  std::string_view reason;
};

Resolved resolve(Json& root, const Path& path);
/// The node at a location that exists.
Json& node_at(Json& root, const Location& location);

/// The value at `path`, read from the text without building a tree. A path that
/// is malformed or leads nowhere is invalid_input(path).
Result<Document> subtree(const Document& state, std::string_view path);

}  // namespace satchel
