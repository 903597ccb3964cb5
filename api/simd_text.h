#pragma once
// simdjson's tree of a text, and that tree as canonical text. Only the JSON
// files of api/ include this header.

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

#include "json_keys.h"

namespace satchel {

/// Depth bound for text that was checked before and may be wrapped.
inline constexpr int kUncheckedDepth = 256;

/// Reads `text` strictly; none when it is refused or clearly deeper than
/// `max_depth`. Duplicate keys pass, and an empty container one level too deep.
/// The element lives as long as `parser`.
std::optional<simdjson::dom::element> parse_simd(simdjson::dom::parser& parser,
                                                 std::string_view text,
                                                 int max_depth);

/// Appends canonical text. false: a duplicate key or too deep; what was
/// appended is then worthless.
class ElementWriter {
 public:
  ElementWriter(std::string* out, int max_depth)
      : out_(out), max_depth_(max_depth) {}

  bool write(simdjson::dom::element element) { return write(element, 0); }

  /// Levels of containers written.
  int depth() const { return depth_; }

 private:
  bool write(simdjson::dom::element element, int level);
  bool enter(int level);
  bool object(simdjson::dom::element element, int level);
  bool array(simdjson::dom::element element, int level);
  void scalar(simdjson::dom::element element);

  std::string* out_;
  int max_depth_;
  int depth_ = 0;
  KeyScopes keys_;
};

}  // namespace satchel
