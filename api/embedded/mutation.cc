#include "api/embedded/mutation.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "api/embedded/engine.h"
#include "api/embedded/errors.h"
#include "api/embedded/lifetime.h"
#include "api/embedded/requests.h"
#include "api/embedded/values.h"
#include "json_text.h"
#include "patch_apply.h"
#include "satchel/objects.h"

namespace satchel::embedded {
namespace {

using storage::Chain;
using storage::Head;
using storage::LogRecord;
using storage::Operation;
using storage::Status;

/// Tombstones kept for a user; the oldest go first.
constexpr std::size_t kMaxTombstones = 10'000;

Operation operation_of(Mutation::What what) {
  switch (what) {
    case Mutation::What::save:
      return Operation::save;
    case Mutation::What::patch:
      return Operation::patch;
    case Mutation::What::touch:
      return Operation::touch;
    case Mutation::What::revert:
      return Operation::revert;
    case Mutation::What::revoke:
    case Mutation::What::expire:
      break;
  }
  return Operation::revoke;
}

/// One attempt to apply the mutations of one handle in one transaction. Each
/// gets its own version and outcome; one that is refused takes no version and
/// leaves the others alone.
class Attempt {
 public:
  Attempt(Engine& engine, const std::vector<Mutation*>& batch)
      : engine_(engine),
        batch_(batch),
        user_(batch.front()->user),
        handle_(batch.front()->handle),
        key_(storage::user_key(user_, handle_)),
        txn_(engine.db->begin()) {}

  /// True: every mutation has its outcome. False: another transaction came
  /// first, nothing was done. Throws when the store fails.
  bool run() {
    // Before anything is concluded from the head.
    txn_.lock_head(user_, handle_);
    load_head();
    const std::lock_guard writing(entry_->writing);
    try {
      for (auto* mutation : batch_) {
        try {
          apply(*mutation);
        } catch (const Error& error) {
          mutation->refusal = error;
        }
      }
      if (!dirty_) {
        cache_what_was_read();
        return true;
      }
      if (head_changed_) txn_.put_head(user_, handle_, head_);
      if (!txn_.commit()) {
        forget();
        return false;
      }
    } catch (...) {
      forget();
      throw;
    }
    // Committed: whatever happens now, the mutations took effect.
    for (auto& place : places_) place.keep();
    try {
      publish();
    } catch (...) {
      forget();
    }
    return true;
  }

 private:
  void load_head() {
    entry_ = engine_.cache.find(key_, &epoch_);
    if (entry_) {
      cached_ = true;
      const std::lock_guard lock(entry_->mutex);
      head_ = entry_->head;
      text_ = entry_->text;
      exists_ = true;
    } else {
      entry_ = std::make_shared<CachedHandle>();
      view_.emplace(engine_.db->view());
      if (auto head = view_->head(user_, handle_)) {
        head_ = *std::move(head);
        exists_ = true;
      }
    }
    committed_ = head_;
  }

  void apply(Mutation& m) {
    const auto now = engine_.now();
    if (m.what == Mutation::What::expire) {
      if (!exists_ || head_.status != Status::live ||
          head_.deadline > std::min(now, m.expired_by)) {
        return;
      }
      bury(Status::expired, head_.deadline);
      m.changed = true;
      return;
    }
    if (replay(m, now)) return;
    const bool saving = m.what == Mutation::What::save;
    if (!exists_) throw handle_not_found(saving);
    require_alive(head_, now, saving);
    if (m.expect_version && *m.expect_version != head_.version) {
      throw stale_write(*m.expect_version);
    }
    RequestPlace place(engine_, user_, m.request_id, now);
    change(m, now);
    m.snapshot = snapshot(m.return_state);
    if (!m.request_id.empty()) {
      remember(m, place.deadline());
      places_.push_back(std::move(place));
    }
  }

  void change(Mutation& m, std::uint64_t now) {
    switch (m.what) {
      case Mutation::What::save:
        return save(m, now);
      case Mutation::What::patch:
        return patch(m, now);
      case Mutation::What::touch:
        return touch(m, now);
      case Mutation::What::revert:
        return revert(m, now);
      case Mutation::What::revoke:
        m.changed = true;
        return bury(Status::revoked, now);
      case Mutation::What::expire:
        return;
    }
  }

  bool replay(Mutation& m, std::uint64_t now) {
    if (m.request_id.empty()) return false;
    std::optional<storage::RequestRecord> record;
    if (const auto it = remembered_.find(m.request_id);
        it != remembered_.end()) {
      record = it->second;
    } else {
      record = txn_.lock_request(user_, m.request_id);
    }
    if (!record || !answers(*record, m.fingerprint, now)) return false;
    m.snapshot = to_snapshot(*record);
    m.replayed = true;
    return true;
  }

  void remember(const Mutation& m, std::uint64_t deadline) {
    auto record =
        to_record(m.snapshot, operation_of(m.what), m.fingerprint, deadline);
    txn_.put_request(user_, m.request_id, record);
    remembered_.insert_or_assign(m.request_id, std::move(record));
    dirty_ = true;
  }

  void save(Mutation& m, std::uint64_t now) {
    auto lifetime = lifetime_of(head_);
    if (m.ttl.kind() != Ttl::Kind::keep) lifetime = lifetime_from(m.ttl, now);
    text_ = m.state.shared_text();
    entry_->tree.reset();
    write_base(m, storage::What::save, lifetime, now);
  }

  void patch(Mutation& m, std::uint64_t now) {
    need_tree();
    std::size_t size = head_.state_bytes;
    const auto changed =
        apply_ops(*entry_->tree, size, m.ops, engine_.options.max_state_bytes);
    if (!changed.ok()) throw changed.error();
    if (!*changed) return;
    head_.state_bytes = size;
    text_.reset();
    if (storage::wants_base(head_, m.ops_text.size())) {
      write_base(m, storage::What::patch, lifetime_of(head_), now);
    } else {
      write_delta(m, storage::What::patch, now);
    }
  }

  void touch(Mutation& m, std::uint64_t now) {
    auto lifetime = lifetime_from(m.ttl, now);
    const bool both_finite =
        lifetime.deadline != storage::kNever && head_.gc != storage::kNever;
    const bool both_never = lifetime.deadline == head_.gc;
    const bool fits =
        both_never || (both_finite && lifetime.deadline <= head_.gc);
    if (fits) lifetime.gc = head_.gc;
    if (fits && !storage::wants_base(head_, 0)) {
      head_.deadline = lifetime.deadline;
      head_.ttl = lifetime.ttl;
      write_delta(m, storage::What::touch, now);
    } else {
      // Records below the new deadline would be taken too early: write the
      // state anew, to live as long as the head.
      need_text();
      write_base(m, storage::What::touch, lifetime, now);
    }
  }

  void revert(Mutation& m, std::uint64_t now) {
    if (m.to_version < 1 || m.to_version > head_.version) {
      throw invalid("to_version", "the current version is " +
                                      std::to_string(head_.version) +
                                      "; revert to an earlier one");
    }
    if (m.to_version == head_.version) {
      need_text();
    } else {
      // Reverts run alone: what the view shows is the current state.
      auto text = engine_.text_at(view(), head_, m.to_version);
      if (!text) {
        const auto chain = storage::load_chain(*engine_.db, view(), head_);
        if (chain.empty()) ended();
        const auto i = storage::first_readable(chain, engine_.db->cutoff());
        throw version_gone(chain[i].version);
      }
      text_ = std::move(text);
    }
    entry_->tree.reset();
    write_base(m, storage::What::revert, lifetime_of(head_), now);
  }

  /// The next version as a log record alone.
  void write_delta(Mutation& m, storage::What what, std::uint64_t now) {
    storage::add_delta(txn_, head_, entry_->chain ? &*entry_->chain : nullptr,
                       begin_version(m, what, now));
  }

  /// The next version with the current state as its base.
  void write_base(Mutation& m, storage::What what, const Lifetime& lifetime,
                  std::uint64_t now) {
    need_text();
    need_chain();
    head_.deadline = lifetime.deadline;
    head_.ttl = lifetime.ttl;
    head_.state_bytes = text_->size();
    const auto& options = engine_.options;
    storage::add_base(txn_, head_, *entry_->chain, begin_version(m, what, now),
                      *text_, lifetime.gc,
                      {options.history_versions, options.history_bytes},
                      engine_.db->cutoff());
  }

  LogRecord begin_version(Mutation& m, storage::What what, std::uint64_t now) {
    head_.updated = std::max(now, head_.updated + 1);
    head_.last_writer = m.writer;
    m.changed = dirty_ = head_changed_ = true;
    LogRecord record;
    record.what = what;
    record.time = head_.updated;
    record.writer = m.writer;
    if (what == storage::What::patch) record.ops = m.ops_text;
    return record;
  }

  /// Makes the head a tombstone.
  void bury(Status status, std::uint64_t time_of_death) {
    if (entry_->chain) {
      storage::drop_all(txn_, head_, *entry_->chain);
    } else {
      storage::drop_all(txn_, head_, view());
      // What this batch logged is not in the view yet.
      for (auto v = committed_.version + 1; v <= head_.version; ++v) {
        txn_.drop_log(head_.hid, v);
      }
    }
    head_.status = status;
    head_.deadline = time_of_death;
    dirty_ = head_changed_ = true;
    user_view_ = engine_.views.of(user_);
    excess_ = user_view_->excess_tombstones(kMaxTombstones - 1);
    for (const auto& handle : excess_) {
      // A name may have come to life again since.
      txn_.lock_head(user_, handle);
      const auto old = engine_.db->view().head(user_, handle);
      if (old && old->status != Status::live) txn_.drop_head(user_, handle);
    }
  }

  Error stale_write(std::uint64_t expected) {
    const auto current = snapshot(true);
    return {ErrorCode::stale_write,
            "the version is " + std::to_string(head_.version) + ", not " +
                std::to_string(expected) +
                ": somebody else wrote first; merge your change into `current`"
                " and save again with expect_version " +
                std::to_string(head_.version),
            {{"current", to_json(current)}, {"expected_version", expected}}};
  }

  Snapshot snapshot(bool with_state) {
    Snapshot result{to_info(handle_, head_), {}, {}};
    if (with_state && head_.status == Status::live) {
      need_text();
      result.state = Document::from_canonical(text_);
    }
    return result;
  }

  const storage::View& view() {
    if (!view_) view_.emplace(engine_.db->view());
    return *view_;
  }

  void need_text() {
    if (text_) return;
    if (!entry_->tree) return read_state();
    std::string text;
    text.reserve(head_.state_bytes);
    append_canonical(*entry_->tree, &text);
    text_ = std::make_shared<const std::string>(std::move(text));
  }

  void need_tree() {
    if (entry_->tree) return;
    need_text();
    // need_text may have found the tree on its way.
    if (!entry_->tree) entry_->tree = parse_canonical(*text_);
  }

  /// Nothing in this batch changed the state yet, or text or tree would be
  /// there.
  void read_state() {
    auto material = storage::load_version(*engine_.db, view(), committed_,
                                          committed_.version);
    if (!material) ended();
    auto rebuilt = rebuild(std::move(*material));
    text_ = std::move(rebuilt.text);
    entry_->tree = std::move(rebuilt.tree);
  }

  /// The cutoff overtook the handle while it was at work.
  [[noreturn]] void ended() const {
    require_alive(committed_, engine_.now(), false);
    throw storage::Failure(storage::Failure::Kind::corrupt,
                           "a handle cannot be read");
  }

  void need_chain() {
    if (entry_->chain) return;
    auto chain = storage::load_chain(*engine_.db, view(), committed_);
    if (chain.empty()) ended();
    entry_->chain = std::move(chain);
    // Deltas of this batch are not in the view yet.
    entry_->chain->back().delta_bytes +=
        head_.delta_bytes - committed_.delta_bytes;
  }

  void cache_what_was_read() {
    if (!exists_ || head_.status != Status::live) return;
    const std::lock_guard lock(entry_->mutex);
    if (text_) entry_->text = text_;
    if (cached_) {
      engine_.cache.resize(key_, entry_, entry_->bytes());
      return;
    }
    entry_->head = head_;
    engine_.cache.insert(key_, entry_, entry_->bytes(), epoch_);
  }

  /// The tree may be ahead of what is stored.
  void forget() {
    entry_->tree.reset();
    entry_->chain.reset();
    engine_.cache.erase(key_);
  }

  void publish() {
    if (head_changed_) {
      if (head_.status == Status::live) {
        const std::lock_guard lock(entry_->mutex);
        entry_->head = head_;
        entry_->text = text_;
        engine_.cache.replace(key_, entry_, entry_->bytes());
      } else {
        forget();
      }
      if (const auto view = engine_.views.peek(user_)) {
        view->committed(handle_, head_, false);
        for (const auto& handle : excess_) view->dropped(handle);
      }
    }
  }

  Engine& engine_;
  const std::vector<Mutation*>& batch_;
  const std::string& user_;
  const std::string& handle_;
  const std::string key_;
  storage::Transaction txn_;
  std::optional<storage::View> view_;

  std::shared_ptr<CachedHandle> entry_;
  std::uint64_t epoch_ = 0;
  bool cached_ = false;
  bool exists_ = false;
  /// As stored, and as it will be.
  Head committed_;
  Head head_;
  Text text_;
  bool head_changed_ = false;
  bool dirty_ = false;

  std::map<std::string, storage::RequestRecord> remembered_;
  std::vector<RequestPlace> places_;
  std::shared_ptr<storage::UserView> user_view_;
  std::vector<std::string> excess_;
};

void fail_all(const std::vector<Mutation*>& batch, const Error& error) {
  for (auto* mutation : batch) {
    mutation->refusal = error;
    mutation->changed = false;
  }
}

/// Attempts until the batch has its outcomes.
void serve(Engine& engine, const std::vector<Mutation*>& batch) noexcept {
  const auto& clock = *engine.options.clock;
  const auto give_up = clock.monotonic() + engine.options.contention_time;
  try {
    while (!Attempt(engine, batch).run()) {
      if (clock.monotonic() > give_up) {
        return fail_all(batch, too_much_contention());
      }
      for (auto* mutation : batch) {
        mutation->refusal.reset();
        mutation->changed = mutation->replayed = false;
      }
    }
  } catch (const storage::Failure& failure) {
    // A record that does not verify concerns the one who asked for it.
    if (failure.kind == storage::Failure::Kind::corrupt && batch.size() > 1) {
      for (auto* mutation : batch) serve(engine, {mutation});
    } else {
      fail_all(batch, current_error());
    }
  } catch (...) {
    fail_all(batch, current_error());
  }
}

/// Reverts read old versions from disk, so they share no transaction.
void serve_in_parts(Engine& engine, const std::vector<Mutation*>& batch) {
  std::vector<Mutation*> part;
  for (auto* mutation : batch) {
    const bool alone = mutation->what == Mutation::What::revert;
    if (alone && !part.empty()) {
      serve(engine, part);
      part.clear();
    }
    part.push_back(mutation);
    if (alone) {
      serve(engine, part);
      part.clear();
    }
  }
  if (!part.empty()) serve(engine, part);
}

}  // namespace

void submit(Engine& engine, Mutation& mutation) {
  const auto key = storage::user_key(mutation.user, mutation.handle);
  const bool served =
      engine.queue.run(key, mutation, engine.options.contention_time,
                       [&](const std::vector<Mutation*>& batch) {
                         serve_in_parts(engine, batch);
                       });
  if (!served) mutation.refusal = too_much_contention();
}

}  // namespace satchel::embedded
