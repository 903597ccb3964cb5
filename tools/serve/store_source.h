#pragma once
// The store behind the server: opened when it is first needed, opened again
// after it failed.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "satchel/store.h"

namespace satchel::tools::serve {

/// Thread-safe. Calls that come while the store is being opened share the
/// outcome of that attempt.
class StoreSource {
 public:
  using Open = std::function<std::unique_ptr<HandleStore>()>;

  /// `open` throws Error; a failure is told on stderr by whoever made `open`.
  explicit StoreSource(Open open) : open_(std::move(open)) {}

  /// The store; throws Error when it cannot be opened. The next call tries
  /// again.
  std::shared_ptr<HandleStore> get();

  /// A call on `store` failed with `error`. A store that takes no more writes
  /// is let go of, so that the next call opens it again.
  void report(const std::shared_ptr<HandleStore>& store, const Error& error);

  /// Closes the store; get() throws store_closed from now on. Blocks until
  /// running calls are done.
  void close();

 private:
  const Open open_;
  std::mutex mutex_;
  std::condition_variable opened_;
  bool opening_ = false;
  bool closed_ = false;
  std::uint64_t attempts_ = 0;
  std::shared_ptr<HandleStore> store_;
  std::shared_ptr<const Error> failure_;
};

}  // namespace satchel::tools::serve
