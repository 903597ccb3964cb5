#include "satchel/async.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace satchel {

struct AsyncHandleStore::Impl {
  Impl(std::unique_ptr<HandleStore> handle_store, int workers)
      : store(std::move(handle_store)) {
    try {
      for (int i = 0; i < std::max(1, workers); ++i) {
        threads.emplace_back([this] { work(); });
      }
    } catch (...) {
      finish();
      throw;
    }
  }

  ~Impl() { finish(); }

  /// Runs what was accepted; accepts no more.
  void finish() {
    {
      const std::lock_guard lock(mutex);
      closing = true;
    }
    wake.notify_all();
    for (auto& thread : threads) {
      if (thread.joinable()) thread.join();
    }
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return closing || !jobs.empty(); });
      if (jobs.empty()) return;
      const auto job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  template <class T, class F>
  std::future<Result<T>> post(F call) {
    // Shared, since std::function wants to be copied.
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto future = promise->get_future();
    {
      const std::lock_guard lock(mutex);
      if (!closing) {
        jobs.emplace_back([this, promise, call = std::move(call)] {
          try {
            promise->set_value(call(*store));
          } catch (...) {
            promise->set_exception(std::current_exception());
          }
        });
        wake.notify_one();
        return future;
      }
    }
    promise->set_value(
        Error(ErrorCode::store_closed, "the store was closed; open it again"));
    return future;
  }

  const std::unique_ptr<HandleStore> store;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> jobs;
  bool closing = false;
  std::mutex close_mutex;
  std::vector<std::thread> threads;
};

Result<std::unique_ptr<AsyncHandleStore>> AsyncHandleStore::open(
    std::string_view url, Options options) {
  const int workers = options.workers;
  auto store = HandleStore::open(url, std::move(options));
  if (!store.ok()) return std::move(store).error();
  try {
    return std::make_unique<AsyncHandleStore>(*std::move(store), workers);
  } catch (const std::exception&) {
    return Error(ErrorCode::internal_error,
                 "the system gives no threads; open the store with fewer "
                 "workers");
  }
}

AsyncHandleStore::AsyncHandleStore(std::unique_ptr<HandleStore> store,
                                   int workers)
    : impl_(std::make_unique<Impl>(std::move(store), workers)) {}

AsyncHandleStore::~AsyncHandleStore() = default;

std::future<Result<Snapshot>> AsyncHandleStore::mint(std::string kind,
                                                     JsonInput state,
                                                     MintOptions options) {
  return impl_->post<Snapshot>([kind = std::move(kind),
                                state = std::move(state),
                                options = std::move(options)](HandleStore& s) {
    return s.mint(kind, state, options);
  });
}

std::future<Result<Snapshot>> AsyncHandleStore::get(std::string handle,
                                                    GetOptions options) {
  return impl_->post<Snapshot>([handle = std::move(handle),
                                options = std::move(options)](HandleStore& s) {
    return s.get(handle, options);
  });
}

std::future<Result<Snapshot>> AsyncHandleStore::save(std::string handle,
                                                     JsonInput state,
                                                     SaveOptions options) {
  return impl_->post<Snapshot>([handle = std::move(handle),
                                state = std::move(state),
                                options = std::move(options)](HandleStore& s) {
    return s.save(handle, state, options);
  });
}

std::future<Result<Snapshot>> AsyncHandleStore::patch(std::string handle,
                                                      JsonInput ops,
                                                      PatchOptions options) {
  return impl_->post<Snapshot>([handle = std::move(handle),
                                ops = std::move(ops),
                                options = std::move(options)](HandleStore& s) {
    return s.patch(handle, ops, options);
  });
}

std::future<Result<Snapshot>> AsyncHandleStore::touch(std::string handle,
                                                      TouchOptions options) {
  return impl_->post<Snapshot>([handle = std::move(handle),
                                options = std::move(options)](HandleStore& s) {
    return s.touch(handle, options);
  });
}

std::future<Result<ListPage>> AsyncHandleStore::list(std::string user,
                                                     ListOptions options) {
  return impl_->post<ListPage>(
      [user = std::move(user), options = std::move(options)](HandleStore& s) {
        return s.list(user, options);
      });
}

std::future<Result<void>> AsyncHandleStore::revoke(std::string handle,
                                                   RevokeOptions options) {
  return impl_->post<void>([handle = std::move(handle),
                            options = std::move(options)](HandleStore& s) {
    return s.revoke(handle, options);
  });
}

std::future<Result<std::uint64_t>> AsyncHandleStore::sweep(std::string user,
                                                           bool accept_clock) {
  return impl_->post<std::uint64_t>(
      [user = std::move(user), accept_clock](HandleStore& s) {
        return s.sweep(user, accept_clock);
      });
}

std::future<Result<History>> AsyncHandleStore::history(std::string handle,
                                                       std::string user) {
  return impl_->post<History>(
      [handle = std::move(handle), user = std::move(user)](HandleStore& s) {
        return s.history(handle, user);
      });
}

std::future<Result<Changes>> AsyncHandleStore::changes_since(
    std::string handle, std::uint64_t since, std::string user) {
  return impl_->post<Changes>([handle = std::move(handle), since,
                               user = std::move(user)](HandleStore& s) {
    return s.changes_since(handle, since, user);
  });
}

std::future<Result<Snapshot>> AsyncHandleStore::revert(std::string handle,
                                                       std::uint64_t to_version,
                                                       RevertOptions options) {
  return impl_->post<Snapshot>([handle = std::move(handle), to_version,
                                options = std::move(options)](HandleStore& s) {
    return s.revert(handle, to_version, options);
  });
}

Result<void> AsyncHandleStore::close() {
  const std::lock_guard lock(impl_->close_mutex);
  impl_->finish();
  return impl_->store->close();
}

}  // namespace satchel
