#pragma once
// HandleStore on a RocksDB of this process.

#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <type_traits>

#include "api/embedded/engine.h"
#include "api/embedded/errors.h"
#include "api/embedded/mutation.h"
#include "api/embedded/periodic.h"
#include "satchel/store.h"

namespace satchel::embedded {

class EmbeddedStore final : public HandleStore {
 public:
  /// `options` are valid and have a clock.
  EmbeddedStore(Options options, std::unique_ptr<storage::Database> db);
  ~EmbeddedStore() override;

  Result<Snapshot> mint(std::string_view kind, const JsonInput& state,
                        const MintOptions& options) override;
  Result<Snapshot> get(std::string_view handle,
                       const GetOptions& options) override;
  Result<Snapshot> save(std::string_view handle, const JsonInput& state,
                        const SaveOptions& options) override;
  Result<Snapshot> patch(std::string_view handle, const JsonInput& ops,
                         const PatchOptions& options) override;
  Result<Snapshot> touch(std::string_view handle,
                         const TouchOptions& options) override;
  Result<ListPage> list(std::string_view user,
                        const ListOptions& options) override;
  Result<void> revoke(std::string_view handle,
                      const RevokeOptions& options) override;
  Result<std::uint64_t> sweep(std::string_view user,
                              bool accept_clock) override;
  Result<History> history(std::string_view handle,
                          std::string_view user) override;
  Result<Changes> changes_since(std::string_view handle, std::uint64_t since,
                                std::string_view user) override;
  Result<Snapshot> revert(std::string_view handle, std::uint64_t to_version,
                          const RevertOptions& options) override;
  Result<std::unique_ptr<KvScope>> scope(std::string_view user,
                                         std::string_view app) override;
  Result<void> close() override;

  // For the parts of the store.

  /// Runs `call` while the store cannot be closed; what it throws becomes the
  /// Error of the Result.
  template <class F>
  auto guarded(F call) -> Result<decltype(call())> {
    // Asked before the lock too: callers that go on must not keep close() out.
    if (closed_) return store_closed();
    const std::shared_lock lock(closing_);
    if (closed_) return store_closed();
    try {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return {};
      } else {
        return call();
      }
    } catch (...) {
      return current_error();
    }
  }
  /// Inside guarded() only.
  Engine& engine() { return *engine_; }
  void require_writable() const;

  /// For tests of what lies on disk.
  storage::Database& database() { return *engine_->db; }
  /// One round of the sweeper's work, now.
  void sweep_all();

 private:
  void tidy() noexcept;
  Snapshot run(Mutation mutation);

  std::shared_mutex closing_;  // held shared by every call
  std::atomic<bool> closed_ = false;
  std::unique_ptr<Engine> engine_;
  std::optional<Periodic> sweeper_;
  std::optional<Periodic> syncer_;
};

}  // namespace satchel::embedded
