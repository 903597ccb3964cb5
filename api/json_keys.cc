#include "json_keys.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

namespace satchel {

std::optional<std::size_t> KeyScopes::close(std::size_t begin) {
  const std::size_t count = keys_.size() - begin;
  const auto found = count <= 8 ? few(begin) : many(begin);
  keys_.resize(begin);
  return found;
}

std::optional<std::size_t> KeyScopes::few(std::size_t begin) const {
  for (std::size_t i = begin + 1; i < keys_.size(); ++i)
    for (std::size_t j = begin; j < i; ++j)
      if (keys_[i] == keys_[j]) return i - begin;
  return std::nullopt;
}

// An open hash table of positions. Long probe sequences mean keys that were
// chosen to collide: sorting has no bad case.
std::optional<std::size_t> KeyScopes::many(std::size_t begin) {
  constexpr int kMaxProbes = 64;
  const std::size_t count = keys_.size() - begin;
  const std::size_t mask = std::bit_ceil(count * 2) - 1;
  slots_.assign(mask + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view key = keys_[begin + i];
    std::size_t slot = std::hash<std::string_view>{}(key)&mask;
    for (int probe = 0; slots_[slot] != 0; ++probe) {
      if (keys_[begin + slots_[slot] - 1] == key) return i;
      if (probe == kMaxProbes) return sorted(begin);
      slot = (slot + 1) & mask;
    }
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
  return std::nullopt;
}

std::optional<std::size_t> KeyScopes::sorted(std::size_t begin) const {
  std::vector<std::size_t> order(keys_.size() - begin);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) { return keys_[begin + i]; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int c = key(a).compare(key(b));
    return c != 0 ? c < 0 : a < b;
  });
  const auto twice = std::adjacent_find(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return key(a) == key(b); });
  if (twice == order.end()) return std::nullopt;
  return *std::next(twice);
}

}  // namespace satchel
