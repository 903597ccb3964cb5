#pragma once
// HandleStore's calls as futures.

#include <cstdint>
#include <future>
#include <memory>
#include <string>

#include "satchel/store.h"

namespace satchel {

/// Runs the calls of a HandleStore on Options::workers threads that it owns.
/// Thread-safe. Effects, errors and durability are those of HandleStore's
/// function of the same name. Calls of one thread may run in any order. Every
/// future becomes ready, also when the store is closed or destroyed first
/// (then with store_closed); no future's destructor blocks.
class AsyncHandleStore {
 public:
  static Result<std::unique_ptr<AsyncHandleStore>> open(
      std::string_view url = {}, Options options = {});

  /// Takes over an open store; `workers` as Options::workers, at least one.
  /// Throws std::system_error when the system gives no threads.
  AsyncHandleStore(std::unique_ptr<HandleStore> store, int workers);
  ~AsyncHandleStore();
  AsyncHandleStore(const AsyncHandleStore&) = delete;
  AsyncHandleStore& operator=(const AsyncHandleStore&) = delete;

  std::future<Result<Snapshot>> mint(std::string kind, JsonInput state,
                                     MintOptions options);
  std::future<Result<Snapshot>> get(std::string handle, GetOptions options);
  std::future<Result<Snapshot>> save(std::string handle, JsonInput state,
                                     SaveOptions options);
  std::future<Result<Snapshot>> patch(std::string handle, JsonInput ops,
                                      PatchOptions options);
  std::future<Result<Snapshot>> touch(std::string handle, TouchOptions options);
  std::future<Result<ListPage>> list(std::string user,
                                     ListOptions options = {});
  std::future<Result<void>> revoke(std::string handle, RevokeOptions options);
  std::future<Result<std::uint64_t>> sweep(std::string user,
                                           bool accept_clock = false);
  std::future<Result<History>> history(std::string handle, std::string user);
  std::future<Result<Changes>> changes_since(std::string handle,
                                             std::uint64_t since,
                                             std::string user);
  std::future<Result<Snapshot>> revert(std::string handle,
                                       std::uint64_t to_version,
                                       RevertOptions options);

  /// Finishes what was accepted, then closes the store.
  Result<void> close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace satchel
