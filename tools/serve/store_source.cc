#include "tools/serve/store_source.h"

#include <utility>

namespace satchel::tools::serve {

std::shared_ptr<HandleStore> StoreSource::get() {
  std::unique_lock lock(mutex_);
  if (closed_) {
    throw Error(ErrorCode::store_closed, "the server is about to end");
  }
  if (store_) return store_;
  if (opening_) {
    const auto attempt = attempts_;
    opened_.wait(lock, [&] { return !opening_ || attempts_ != attempt; });
    if (store_) return store_;
    throw failure_
        ? *failure_
        : Error(ErrorCode::store_closed, "the server is about to end");
  }
  opening_ = true;
  ++attempts_;
  lock.unlock();
  std::shared_ptr<HandleStore> store;
  std::shared_ptr<const Error> failure;
  try {
    store = open_();
  } catch (const Error& error) {
    failure = std::make_shared<const Error>(error);
  } catch (const std::exception&) {
    failure = std::make_shared<const Error>(
        ErrorCode::internal_error, "the store could not be opened; try again");
  }
  lock.lock();
  opening_ = false;
  failure_ = failure;
  if (!closed_) store_ = store;
  opened_.notify_all();
  lock.unlock();
  if (failure) throw Error(*failure);
  return store;
}

void StoreSource::report(const std::shared_ptr<HandleStore>& store,
                         const Error& error) {
  if (error.code != ErrorCode::read_only &&
      error.code != ErrorCode::store_closed) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  // The last call that still runs on it closes it.
  if (store_ == store) store_.reset();
}

void StoreSource::close() {
  std::shared_ptr<HandleStore> store;
  {
    std::unique_lock lock(mutex_);
    closed_ = true;
    opened_.wait(lock, [&] { return !opening_; });
    store = std::move(store_);
  }
  if (store) store->close().value();
}

}  // namespace satchel::tools::serve
