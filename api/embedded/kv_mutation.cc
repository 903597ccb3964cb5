#include "api/embedded/kv_mutation.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "api/embedded/engine.h"
#include "api/embedded/errors.h"
#include "api/embedded/kv_arguments.h"

namespace satchel::embedded {
namespace {

/// What a canonical text is, if it is no integer.
std::string_view type_of(std::string_view text) {
  switch (text.front()) {
    case '"':
      return "string";
    case '{':
      return "object";
    case '[':
      return "array";
    case 't':
    case 'f':
      return "boolean";
    case 'n':
      return "null";
    default:
      return "number";
  }
}

__extension__ using Wide = __int128;

/// The integer in a canonical text; none when it is something else. Larger
/// ones than an int64 fit too.
std::optional<Wide> integer_in(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t small = 0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, small);
      error == std::errc() && stop == end) {
    return small;
  }
  std::uint64_t large = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, large);
  if (error == std::errc() && stop == end) return large;
  return std::nullopt;
}

/// Serves the mutations of one scope in one transaction, each as if the ones
/// before it were done. One that is refused leaves the others alone.
class KvBatch {
 public:
  KvBatch(Engine& engine, const std::string& scope)
      : engine_(engine),
        scope_(scope),
        view_(engine.scopes.of(scope)),
        now_(engine.now()),
        used_(view_->usage(now_).bytes) {}

  void run(const std::vector<KvMutation*>& batch) {
    for (auto* mutation : batch) {
      try {
        apply(*mutation);
      } catch (const Error& error) {
        mutation->refusal = error;
      } catch (const storage::Failure& failure) {
        // A record that does not verify concerns the one who asked for it.
        if (failure.kind != storage::Failure::Kind::corrupt) throw;
        mutation->refusal = current_error();
      }
    }
    if (!changes_.empty()) commit();
  }

 private:
  /// What a key becomes. No value: it goes.
  struct Change {
    std::optional<std::string> value;
    std::uint64_t deadline = 0;
    std::uint64_t bytes = 0;
  };

  void apply(KvMutation& m) {
    switch (m.what) {
      case KvMutation::What::set:
        return set(m);
      case KvMutation::What::remove:
        m.removed = remove(m.key) ? 1 : 0;
        return;
      case KvMutation::What::remove_prefix:
        return remove_prefix(m);
      case KvMutation::What::add:
        return add(m);
    }
  }

  void set(KvMutation& m) {
    if (m.if_absent && bytes_of(m.key) != 0) {
      throw condition_failed("the key is there already");
    }
    if (m.expect_value && current(m.key) != m.expect_value->text()) {
      throw condition_failed("the key does not hold the expected value");
    }
    m.deadline = now_ + m.ttl;
    put(m.key, m.value.text(), m.deadline);
  }

  void add(KvMutation& m) {
    Wide sum = m.by;
    if (const auto text = current(m.key)) {
      const auto number = integer_in(*text);
      if (!number) throw type_mismatch(m.key, type_of(*text));
      sum += *number;
    }
    if (sum < -kMaxCounter || sum > kMaxCounter) throw counter_out_of_range();
    m.sum = static_cast<std::int64_t>(sum);
    put(m.key, std::to_string(m.sum), now_ + m.ttl);
  }

  bool remove(const std::string& key) {
    const auto bytes = bytes_of(key);
    if (bytes == 0) return false;
    used_ -= bytes;
    changes_.insert_or_assign(key, Change());
    return true;
  }

  void remove_prefix(KvMutation& m) {
    bool more;
    for (const auto& row : view_->page(m.key, {}, now_, SIZE_MAX, &more)) {
      if (remove(row.key)) ++m.removed;
    }
    // What this batch added is not in the view yet.
    std::vector<std::string> added;
    for (auto it = changes_.lower_bound(m.key);
         it != changes_.end() && it->first.starts_with(m.key); ++it) {
      if (it->second.value) added.push_back(it->first);
    }
    for (const auto& key : added) {
      if (remove(key)) ++m.removed;
    }
  }

  void put(const std::string& key, std::string value, std::uint64_t deadline) {
    const auto bytes = key.size() + value.size();
    const auto before = bytes_of(key);
    const auto limit = engine_.options.kv_max_scope_bytes;
    const auto after = used_ - before + bytes;
    if (after > limit && bytes > before) {
      throw kv_quota_exceeded(used_, after, limit);
    }
    used_ = after;
    changes_.insert_or_assign(key, Change{std::move(value), deadline, bytes});
  }

  /// Bytes of key and value as they are now, in this batch; 0: absent.
  std::uint64_t bytes_of(const std::string& key) {
    const auto it = changes_.find(key);
    return it == changes_.end() ? view_->bytes_of(key, now_) : it->second.bytes;
  }

  /// The value as it is now, in this batch.
  std::optional<std::string> current(const std::string& key) {
    const auto it = changes_.find(key);
    if (it != changes_.end()) return it->second.value;
    auto record = engine_.db->kv(scope_, key);
    if (!record || record->deadline <= now_) return std::nullopt;
    return std::move(record->value);
  }

  void commit() {
    auto txn = engine_.db->begin();
    for (const auto& [key, change] : changes_) {
      if (change.value) {
        txn.put_kv(scope_, key, change.deadline, *change.value);
      } else {
        txn.drop_kv(scope_, key);
      }
    }
    // Nothing is locked, so nothing can have come first.
    if (!txn.commit()) throw too_much_contention();
    // Committed: whatever happens now, the mutations took effect.
    try {
      publish();
    } catch (...) {
      view_->forget();
    }
  }

  void publish() {
    std::vector<storage::ScopeView::Change> changes;
    changes.reserve(changes_.size());
    for (const auto& [key, change] : changes_) {
      changes.push_back({key, change.deadline, change.bytes});
    }
    view_->apply(changes);
  }

  Engine& engine_;
  const std::string& scope_;
  const std::shared_ptr<storage::ScopeView> view_;
  /// One time for all: between two looks at the clock an entry could end.
  const std::uint64_t now_;
  std::uint64_t used_;
  std::map<std::string, Change, std::less<>> changes_;
};

void serve(Engine& engine, const std::string& scope,
           const std::vector<KvMutation*>& batch) noexcept {
  try {
    KvBatch(engine, scope).run(batch);
  } catch (...) {
    // Earlier refusals too: they may rest on what was not committed.
    const auto error = current_error();
    for (auto* mutation : batch) mutation->refusal = error;
  }
}

}  // namespace

void submit(Engine& engine, const std::string& scope, KvMutation& mutation) {
  const bool served =
      engine.kv_queue.run(scope, mutation, engine.options.contention_time,
                          [&](const std::vector<KvMutation*>& batch) {
                            serve(engine, scope, batch);
                          });
  if (!served) mutation.refusal = too_much_contention();
}

}  // namespace satchel::embedded
