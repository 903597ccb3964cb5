#pragma once
// JSON text in and out: strict validation, the canonical form, and trees from
// text that is canonical already. Writing trees: json_write.h.

#include <string>
#include <string_view>

#include "json_write.h"
#include "satchel/document.h"
#include "satchel/error.h"
#include "satchel/json.h"

namespace satchel {

struct CanonicalText {
  std::string text;
  /// Levels of containers.
  int depth = 0;
};

/// Checks `text` and makes it canonical; doing so again changes no byte. The
/// refusals are those of Document::parse. Uses little stack whatever the text.
Result<CanonicalText> canonicalise(std::string_view text);

/// The same for a tree, by the same rules.
Result<CanonicalText> canonical(const Json& tree);

/// Whether a document has at most kMaxDepth levels; invalid_input(state).
Result<void> check_depth(const Document& document);

/// Whether a document may be a state: an object of at most kMaxDepth levels;
/// invalid_input(state).
Result<void> check_state(const Document& document);

/// The tree of canonical text. Throws std::logic_error when `text` is no JSON:
/// whoever calls vouches for it.
Json parse_canonical(std::string_view text);

}  // namespace satchel
