#pragma once
// Changes of handles that exist, from the waiting line to the commit.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "patch_ops.h"
#include "satchel/document.h"
#include "satchel/error.h"
#include "satchel/handle.h"
#include "satchel/ttl.h"
#include "storage/format.h"

namespace satchel::embedded {

struct Engine;

/// One call, its arguments checked, and what came of it.
struct Mutation {
  enum class What : std::uint8_t { save, patch, touch, revert, revoke, expire };

  What what = What::patch;
  std::string user;
  std::string handle;
  std::string writer;
  std::string request_id;
  storage::Fingerprint fingerprint{};
  bool return_state = false;

  Document state;            // save
  std::vector<PatchOp> ops;  // patch
  std::string ops_text;      // patch: a canonical array
  Ttl ttl;                   // save, touch
  std::optional<std::uint64_t> expect_version;
  std::uint64_t to_version = 0;  // revert
  std::uint64_t expired_by = 0;  // expire: only what ended by then

  // The outcome.
  std::optional<Error> refusal;
  Snapshot snapshot;
  /// Something was written.
  bool changed = false;
  /// An earlier call's result was returned.
  bool replayed = false;
};

/// Runs `mutation` in its handle's line, together with others that wait there,
/// and fills in its outcome. Does not throw.
void submit(Engine& engine, Mutation& mutation);

/// A new handle. Throws the Error of a refusal.
struct MintCall {
  std::string kind;
  Document state;
  MintOptions options;
  storage::Fingerprint fingerprint{};
};
Snapshot mint(Engine& engine, const MintCall& call);

}  // namespace satchel::embedded
