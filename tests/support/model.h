#pragma once
// What a HandleStore is, as a plain map in memory: the oracle of the
// random-operation test. It knows nothing of logs, caches or compaction.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fixture.h"

namespace satchel::test {

/// A version of a handle.
struct ModelVersion {
  std::string state;
  Change what = Change::mint;
  std::string writer;
  Time at{};
  Json ops = Json::array();
};

struct ModelHandle {
  HandleInfo info;
  std::vector<ModelVersion> versions;  // versions[0] is version 1
  microseconds ttl{0};
  bool revoked = false;
  /// A sweep made it a tombstone: it does not come back when the clock falls.
  bool swept = false;
  /// Whether it ever had a deadline that a later one replaced: then segments
  /// of its history may end earlier than the handle.
  bool renewed = false;

  const std::string& state() const { return versions.back().state; }
};

/// What a call is expected to give: a code, or the snapshot's members.
struct Expected {
  std::optional<ErrorCode> error;
  HandleInfo info;
};

/// One user's request id.
struct ModelRequest {
  std::string fingerprint;
  HandleInfo result;
  Time deadline{};
};

class Model {
 public:
  explicit Model(const TestClock& clock) : clock_(clock) {}

  /// A request id that is alive: the expected result of using it for
  /// `fingerprint`, nothing when the call is to be made.
  std::optional<Expected> replay(const std::string& user, const std::string& id,
                                 const std::string& fingerprint) const;
  void remember(const std::string& user, const std::string& id,
                const std::string& fingerprint, const HandleInfo& result);

  void minted(const std::string& user, const Snapshot& snapshot,
              const std::string& state, microseconds ttl);
  /// handle_not_found or handle_expired, or nothing for a live handle.
  std::optional<ErrorCode> refusal(const std::string& user,
                                   const std::string& handle) const;
  bool alive(const ModelHandle& h) const;
  /// Makes the next version; `ttl` as in the call.
  HandleInfo wrote(const std::string& user, const std::string& handle,
                   ModelVersion version, Ttl ttl = {});
  void revoked(const std::string& user, const std::string& handle);
  /// Every expired handle becomes a tombstone; how many.
  std::uint64_t sweep(const std::string& user);
  /// In the order of list.
  std::vector<HandleInfo> list(const std::string& user, bool include_expired,
                               const std::string& kind) const;
  ModelHandle* find(const std::string& user, const std::string& handle);
  /// In the order in which they were minted, which a seed repeats.
  const std::vector<std::string>& handles(const std::string& user) {
    return minted_[user];
  }

 private:
  const TestClock& clock_;
  std::map<std::pair<std::string, std::string>, ModelHandle> handles_;
  std::map<std::string, std::vector<std::string>> minted_;
  std::map<std::pair<std::string, std::string>, ModelRequest> requests_;
};

/// Applies ops that are known to fit (of the kinds that the test makes).
std::string apply_ops(const std::string& state, const Json& ops);

}  // namespace satchel::test
