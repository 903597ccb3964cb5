#include <sys/random.h>

#include <array>
#include <exception>
#include <utility>

#include "api/embedded/engine.h"
#include "api/embedded/errors.h"
#include "api/embedded/lifetime.h"
#include "api/embedded/mutation.h"
#include "api/embedded/requests.h"
#include "api/embedded/values.h"

namespace satchel::embedded {
namespace {

using storage::Head;

std::string random_handle(const std::string& kind) {
  std::array<unsigned char, 8> random;
  if (getrandom(random.data(), random.size(), 0) !=
      static_cast<ssize_t>(random.size())) {
    throw storage::Failure(storage::Failure::Kind::io,
                           "the system gives no random bytes");
  }
  auto handle = kind + '_';
  for (const auto byte : random) {
    handle.push_back("abcdefghijklmnopqrstuvwxyz234567"[byte % 32]);
  }
  return handle;
}

/// A place among the user's live handles, given back unless kept.
class HandlePlace {
 public:
  HandlePlace(Engine& engine, std::string_view user, std::uint64_t now)
      : view_(engine.views.of(user)) {
    std::uint64_t held;
    const auto limit = engine.options.max_handles_per_user;
    if (!view_->reserve(now, limit, &held)) {
      view_.reset();
      throw quota_exceeded("live handles", held, limit);
    }
  }
  ~HandlePlace() {
    if (view_) view_->release();
  }
  HandlePlace(const HandlePlace&) = delete;
  HandlePlace& operator=(const HandlePlace&) = delete;

  /// The place is the handle's from now on.
  void fill(std::string_view handle, const Head& head) {
    std::exchange(view_, nullptr)->committed(handle, head, true);
  }

 private:
  std::shared_ptr<storage::UserView> view_;
};

Head first_head(const MintCall& call, std::uint64_t hid, std::uint64_t now) {
  const auto lifetime = lifetime_from(call.options.ttl, now);
  Head head;
  head.deadline = lifetime.deadline;
  head.ttl = lifetime.ttl;
  head.gc = lifetime.gc;
  head.hid = hid;
  head.version = head.base_version = head.oldest_base = 1;
  head.state_bytes = call.state.size_bytes();
  head.created = head.updated = now;
  head.kind = call.kind;
  head.last_writer = call.options.writer;
  return head;
}

/// One attempt; none when another transaction came first.
std::optional<Snapshot> attempt(Engine& engine, const MintCall& call) {
  const auto& [user, ttl, writer, request_id, return_state] = call.options;
  const auto now = engine.now();
  auto txn = engine.db->begin();
  if (!request_id.empty()) {
    const auto record = txn.lock_request(user, request_id);
    if (record && answers(*record, call.fingerprint, now)) {
      auto snapshot = to_snapshot(*record);
      if (return_state) add_replayed_state(engine, user, &snapshot);
      return snapshot;
    }
  }
  HandlePlace handle_place(engine, user, now);
  RequestPlace request_place(engine, user, request_id, now);

  const auto handle = random_handle(call.kind);
  txn.lock_head(user, handle);
  if (engine.db->view().head(user, handle)) return std::nullopt;
  const auto head = first_head(call, engine.db->allocate_hid(), now);
  txn.put_head(user, handle, head);
  txn.put_base({head.hid, 1, head.gc}, call.state.text());
  txn.put_log(head.hid, 1, {head.gc, storage::What::mint, now, writer, {}});
  Snapshot snapshot{to_info(handle, head), {}, {}};
  if (!request_id.empty()) {
    txn.put_request(user, request_id,
                    to_record(snapshot, storage::Operation::mint,
                              call.fingerprint, request_place.deadline()));
  }
  if (return_state) snapshot.state = call.state;
  auto entry = std::make_shared<CachedHandle>();
  entry->head = head;
  entry->text = call.state.shared_text();
  entry->chain = {{1, head.gc, head.state_bytes, 0}};
  const auto bytes = entry->bytes();
  const auto key = storage::user_key(user, handle);
  std::uint64_t epoch;
  engine.cache.find(key, &epoch);
  if (!txn.commit()) return std::nullopt;
  request_place.keep();
  // A sweep may see the handle from now on, others once it is listed: what
  // they made of it must not be overwritten.
  engine.cache.insert(key, std::move(entry), bytes, epoch);
  handle_place.fill(handle, head);
  return snapshot;
}

}  // namespace

Snapshot mint(Engine& engine, const MintCall& call) {
  std::optional<Snapshot> result;
  std::exception_ptr failure;
  const auto& clock = *engine.options.clock;
  const std::function<void()> attempts = [&] {
    const auto give_up = clock.monotonic() + engine.options.contention_time;
    try {
      while (!(result = attempt(engine, call))) {
        if (clock.monotonic() > give_up) throw too_much_contention();
      }
    } catch (...) {
      failure = std::current_exception();
    }
  };
  if (call.options.request_id.empty()) {
    attempts();
  } else {
    const auto key =
        storage::user_key(call.options.user, call.options.request_id);
    const bool served = engine.mints.run(
        key, attempts, engine.options.contention_time,
        [](const std::vector<const std::function<void()>*>& batch) {
          for (const auto* each : batch) (*each)();
        });
    if (!served) throw too_much_contention();
  }
  if (failure) std::rethrow_exception(failure);
  return *std::move(result);
}

}  // namespace satchel::embedded
