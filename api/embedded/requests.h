#pragma once
// Remembering what a request id did.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/embedded/engine.h"
#include "api/embedded/errors.h"
#include "satchel/handle.h"
#include "storage/format.h"
#include "storage/user_views.h"

namespace satchel::embedded {

/// A place among the user's live request ids, given back unless kept.
class RequestPlace {
 public:
  /// Throws quota_exceeded when there is none. An empty id takes no place.
  RequestPlace(Engine& engine, std::string_view user, std::string_view id,
               std::uint64_t now) {
    if (id.empty()) return;
    deadline_ =
        now +
        static_cast<std::uint64_t>(
            std::chrono::microseconds(engine.options.request_window).count());
    auto view = engine.views.of(user);
    std::uint64_t held;
    const auto limit = engine.options.max_request_ids_per_user;
    if (!view->reserve_request(now, deadline_, limit, &held)) {
      throw quota_exceeded("remembered request ids", held, limit);
    }
    view_ = std::move(view);
  }
  ~RequestPlace() {
    if (view_) view_->release_request(deadline_);
  }
  RequestPlace(RequestPlace&&) noexcept = default;
  RequestPlace& operator=(RequestPlace&&) = delete;

  void keep() { view_.reset(); }
  std::uint64_t deadline() const { return deadline_; }

 private:
  std::shared_ptr<storage::UserView> view_;
  std::uint64_t deadline_ = 0;
};

/// Whether `record` answers a call with this fingerprint; throws
/// request_conflict when it answers another one.
bool answers(const storage::RequestRecord& record,
             const storage::Fingerprint& fingerprint, std::uint64_t now);

storage::RequestRecord to_record(const Snapshot& result,
                                 storage::Operation operation,
                                 const storage::Fingerprint& fingerprint,
                                 std::uint64_t deadline);

/// The result that the record remembers, without the state.
Snapshot to_snapshot(const storage::RequestRecord& record);

/// Fills in the state of a replayed result when it is still kept.
void add_replayed_state(Engine& engine, std::string_view user,
                        Snapshot* snapshot);

}  // namespace satchel::embedded
