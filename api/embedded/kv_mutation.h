#pragma once
// Changes of key-value entries, from the scope's waiting line to the commit.

#include <cstdint>
#include <optional>
#include <string>

#include "satchel/document.h"
#include "satchel/error.h"

namespace satchel::embedded {

struct Engine;

/// One call, its arguments checked, and what came of it.
struct KvMutation {
  enum class What : std::uint8_t { set, remove, remove_prefix, add };

  What what = What::set;
  /// The key, or the prefix.
  std::string key;
  std::uint64_t ttl = 0;  // set, add: microseconds
  Document value;         // set
  bool if_absent = false;
  std::optional<Document> expect_value;
  std::int64_t by = 0;  // add

  // The outcome.
  std::optional<Error> refusal;
  std::uint64_t deadline = 0;  // set
  std::uint64_t removed = 0;   // remove, remove_prefix
  std::int64_t sum = 0;        // add
};

/// Runs `mutation` in the line of its scope (as scope_prefix() makes it),
/// together with others that wait there, and fills in its outcome. Since a
/// scope's changes are served by one thread at a time, its limit is exact and
/// no two of them can meet in a commit. Does not throw.
void submit(Engine& engine, const std::string& scope, KvMutation& mutation);

}  // namespace satchel::embedded
