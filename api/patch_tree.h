#pragma once
// A tree that is edited in place, counts its canonical bytes and can go back.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "path.h"
#include "satchel/json.h"

namespace satchel {

/// Edits of a tree that obeys the JSON rules. An edit costs what it adds and
/// removes (and a shift of the positions behind a removed member or item),
/// never the whole tree. One that changes no canonical byte is none. Pointers
/// into the tree and its locations end with the next edit.
class TreeEditor {
 public:
  /// `size` is the canonical size of `root` and follows every edit.
  TreeEditor(Json& root, std::size_t& size)
      : root_(root), size_(size), first_size_(size) {}
  TreeEditor(const TreeEditor&) = delete;
  TreeEditor& operator=(const TreeEditor&) = delete;
  /// Restores the tree, order of keys included, unless keep() was called.
  ~TreeEditor() {
    if (!kept_) undo_all();
  }
  void keep() { kept_ = true; }

  Json& root() { return root_; }
  std::size_t size() const { return size_; }
  std::size_t first_size() const { return first_size_; }

  void add_item(const Location& array, Json value);
  /// `key` must not be there.
  void add_member(const Location& object, std::string_view key, Json value);
  void replace_member(const Location& object, std::size_t position, Json value);
  void remove_member(const Location& object, std::size_t position);
  /// Removes every item with the canonical text of `value`.
  void remove_items(const Location& array, const Json& value);

  /// Whether the canonical text differs from the first one. Exact. Cheap unless
  /// several edits left the size as it was; then it costs the smallest subtree
  /// that holds all of them.
  bool changed() const;

 private:
  enum class Kind : std::uint8_t {
    /// Noted, not done: memory ran out in between.
    nothing,
    drop_item,
    drop_member,
    replace_member,
    insert_member,
    insert_items,
  };
  struct Undo {
    Kind kind;
    Location container;
    std::size_t position = 0;
    std::string key;
    Json value;
    std::vector<std::pair<std::size_t, Json>> items;
  };

  static void undo_in(Json& container, Undo& undo);
  bool apart() const;
  bool replacements_differ() const;
  bool subtree_differs() const;
  void undo_all() noexcept;

  Json& root_;
  std::size_t& size_;
  const std::size_t first_size_;
  std::vector<Undo> undo_;
  bool kept_ = false;
};

}  // namespace satchel
