#pragma once
// Finds duplicate keys of one object.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace satchel {

/// Collects the keys of nested objects: a scope per object, innermost last.
/// O(n) for ordinary keys and O(n log n) for keys made to collide.
class KeyScopes {
 public:
  std::size_t open() const { return keys_.size(); }
  void add(std::string_view key) { keys_.push_back(key); }
  /// Ends the scope that open() returned `begin` for; the position in the
  /// object of a key that stands there twice.
  std::optional<std::size_t> close(std::size_t begin);

 private:
  std::optional<std::size_t> few(std::size_t begin) const;
  std::optional<std::size_t> many(std::size_t begin);
  std::optional<std::size_t> sorted(std::size_t begin) const;

  std::vector<std::string_view> keys_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace satchel
