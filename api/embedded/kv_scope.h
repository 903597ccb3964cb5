#pragma once
// KvScope on the embedded store.

#include <string>

#include "satchel/kv.h"

namespace satchel::embedded {

class EmbeddedStore;

class EmbeddedKvScope final : public KvScope {
 public:
  /// Throws invalid_input for a user or app that breaks its rule.
  EmbeddedKvScope(EmbeddedStore& store, std::string_view user,
                  std::string_view app);

  Result<std::optional<KvEntry>> get(std::string_view key) override;
  Result<Time> set(std::string_view key, const KvValue& value,
                   const KvSetOptions& options) override;
  Result<bool> remove(std::string_view key) override;
  Result<std::uint64_t> remove_prefix(std::string_view prefix) override;
  Result<bool> has(std::string_view key) override;
  Result<KvPage> keys(const KvKeysOptions& options) override;
  Result<std::int64_t> increment(std::string_view key,
                                 const KvCounterOptions& options) override;
  Result<std::map<std::string, KvEntry>> mget(
      const std::vector<std::string>& keys) override;
  Result<KvUsage> usage() override;

 private:
  template <class F>
  auto guarded(F call) const;

  EmbeddedStore& store_;
  const std::string user_;
  const std::string app_;
  const std::string scope_;
};

}  // namespace satchel::embedded
