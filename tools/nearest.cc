#include "tools/nearest.h"

#include <algorithm>
#include <numeric>

namespace satchel::tools {
namespace {

/// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view given,
                    const std::vector<std::string>& known) {
  std::string best;
  // A longer word has no near neighbour here, and would cost its length.
  if (given.size() > 256) return best;
  std::size_t least = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t d = distance(given, name);
    if (d < least) least = d, best = name;
  }
  if (!best.empty()) return best;
  // A part of a name, or a name with more: "ttl" for "ttl_days".
  for (const std::string& name : known) {
    const bool part = given.size() > 1 && name.find(given) != name.npos;
    if (part || given.find(name) != given.npos) return name;
  }
  return best;
}

}  // namespace satchel::tools
