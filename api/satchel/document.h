#pragma once
// A state, or any JSON value, as it travels through the library: immutable
// canonical text, shared between copies, with the tree built on request.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "satchel/error.h"
#include "satchel/json.h"

namespace satchel {

/// Deepest nesting that a state may have; the root is level 1.
inline constexpr int kMaxDepth = 128;
/// Levels that a list of patch ops puts around a value, on top of kMaxDepth.
inline constexpr int kOpLevels = 2;

/// Immutable JSON in canonical form: compact; key order kept; 64-bit integers
/// exact; reals in the shortest form that reads back to the same double, never
/// looking like an integer ("1.0"); control characters, '"' and '\' escaped and
/// nothing else. Equal bytes are what "nothing changed" means. Copies share the
/// text. Thread-safe.
class Document {
 public:
  /// The empty object.
  Document();

  /// Checks `text` strictly and makes it canonical. Refused as invalid_input
  /// (field "state", for numbers and keys also `path`, a JSON Pointer): text
  /// that is no JSON, invalid UTF-8, lone surrogates, NaN and Infinity,
  /// duplicate keys, over kMaxDepth + kOpLevels levels, integers outside the
  /// signed and unsigned 64-bit range, reals that overflow. Any root is
  /// accepted here; a state must be an object of at most kMaxDepth levels,
  /// which the call that receives it checks.
  static Result<Document> parse(std::string_view text);

  /// The same for a tree (which may hold NaN, invalid UTF-8 or binary values).
  static Result<Document> from_json(const Json& tree);

  /// Canonical text; valid as long as any copy of this Document lives.
  const std::string& text() const noexcept;

  std::size_t size_bytes() const noexcept { return text().size(); }

  /// The tree, parsed on the first call and kept with this Document.
  const Json& json() const;

  /// Wraps text that is canonical already. For the library's own use: the
  /// caller vouches for the text, and for its depth.
  static Document from_canonical(std::shared_ptr<const std::string> text,
                                 int depth_bound = kMaxDepth);

  /// Levels of containers, at most.
  int depth_bound() const noexcept;

  /// The shared text, to keep it without a copy.
  const std::shared_ptr<const std::string>& shared_text() const noexcept;

  friend bool operator==(const Document& a, const Document& b) noexcept {
    return a.text() == b.text();
  }

 private:
  struct Rep;
  explicit Document(std::shared_ptr<const Rep> rep);
  std::shared_ptr<const Rep> rep_;
};

/// The text laid out for people: two spaces a level, one member or item a line;
/// {} and [] stay on one line. Numbers and strings are copied as they are.
std::string pretty(const Document& document);

/// JSON that a caller hands in: a tree, a Document, or the Result of parsing
/// text. A value that breaks a rule is carried as its Error and refused by the
/// call that receives it.
class JsonInput {
 public:
  JsonInput(const Json& tree)  // NOLINT: implicit on purpose
      : document_(Document::from_json(tree)) {}
  JsonInput(Document document)  // NOLINT
      : document_(std::move(document)) {}
  JsonInput(Result<Document> document)  // NOLINT
      : document_(std::move(document)) {}

  const Result<Document>& document() const noexcept { return document_; }

 private:
  Result<Document> document_;
};

}  // namespace satchel
