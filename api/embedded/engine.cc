#include "api/embedded/engine.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/embedded/errors.h"
#include "api/embedded/mutation.h"
#include "api/embedded/values.h"
#include "json_text.h"
#include "patch_apply.h"

namespace satchel::embedded {
namespace {

using storage::Failure;
using storage::Head;

constexpr std::uint64_t kMinute = 60'000'000;
/// How far the cutoff stays behind the clock.
constexpr std::uint64_t kGrace = 10 * kMinute;

/// Reading this much anew costs less than a sync of the disk.
constexpr std::size_t kSmallState = 64 << 10;

/// A tree takes several times its text.
constexpr std::size_t kTreeFactor = 5;

[[noreturn]] void damaged_delta() {
  throw Failure(Failure::Kind::corrupt,
                "a stored patch does not apply: the store is damaged");
}

}  // namespace

std::size_t CachedHandle::bytes() const {
  return 1024 + (text ? text->size() : 0) +
         (tree ? kTreeFactor * head.state_bytes : 0);
}

Engine::Engine(Options opts, std::unique_ptr<storage::Database> database)
    : options(std::move(opts)),
      db(std::move(database)),
      cache(options.cache_bytes),
      views(*db, options.index_bytes),
      scopes(*db, options.index_bytes),
      guard_(db->last_seen()) {}

std::uint64_t Engine::wall() const { return to_stored(options.clock->now()); }

std::uint64_t Engine::monotonic() const {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, options.clock->monotonic().count()));
}

std::uint64_t Engine::now() const { return std::max(wall(), db->cutoff()); }

Rebuilt rebuild(storage::Material material) {
  if (material.ops.empty()) {
    return {std::make_shared<const std::string>(std::move(material.text)), {}};
  }
  auto tree = parse_canonical(material.text);
  auto size = material.text.size();
  for (auto& text : material.ops) {
    const auto ops = parse_ops(Document::from_canonical(
        std::make_shared<const std::string>(std::move(text))));
    if (!ops.ok()) damaged_delta();
    // No cap: it may have been lowered since.
    if (!apply_ops(tree, size, *ops, SIZE_MAX).ok()) damaged_delta();
  }
  std::string text;
  text.reserve(size);
  append_canonical(tree, &text);
  return {std::make_shared<const std::string>(std::move(text)),
          std::move(tree)};
}

Current Engine::current(std::string_view user, std::string_view handle) {
  const auto key = storage::user_key(user, handle);
  std::uint64_t epoch;
  if (const auto entry = cache.find(key, &epoch)) {
    const auto published = [&] {
      const std::lock_guard lock(entry->mutex);
      require_alive(entry->head, now(), false);
      return Current{entry->head, entry->text};
    };
    auto found = published();
    if (found.text) return found;
    // A writer holds `writing` until its commit is on disk. A small state is
    // read from there sooner than that; a big one is worth the wait.
    std::unique_lock writing(entry->writing, std::defer_lock);
    if (found.head.state_bytes > kSmallState) {
      writing.lock();
    } else if (!writing.try_lock()) {
      return stored(user, handle, nullptr);
    }
    found = published();
    if (found.text) return found;
    if (entry->tree) {
      auto text = std::make_shared<std::string>();
      text->reserve(found.head.state_bytes);
      append_canonical(*entry->tree, text.get());
      const std::lock_guard lock(entry->mutex);
      entry->text = std::move(text);
      cache.resize(key, entry, entry->bytes());
      return {entry->head, entry->text};
    }
    // A commit failed meanwhile and took the tree along: read it anew.
  }
  return stored(user, handle, &epoch);
}

Current Engine::stored(std::string_view user, std::string_view handle,
                       const std::uint64_t* epoch) {
  // The cutoff may overtake a read; then the handle turns out to be expired.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto view = db->view();
    auto head = view.head(user, handle);
    if (!head) throw handle_not_found(false);
    require_alive(*head, now(), false);
    auto material = storage::load_version(*db, view, *head, head->version);
    if (!material) continue;
    auto rebuilt = rebuild(std::move(*material));
    if (epoch != nullptr) {
      auto entry = std::make_shared<CachedHandle>();
      entry->head = *head;
      entry->text = rebuilt.text;
      entry->tree = std::move(rebuilt.tree);
      const auto bytes = entry->bytes();
      cache.insert(storage::user_key(user, handle), std::move(entry), bytes,
                   *epoch);
    }
    return {*std::move(head), std::move(rebuilt.text)};
  }
  throw Failure(Failure::Kind::corrupt, "a handle cannot be read");
}

Text Engine::text_at(const storage::View& view, const Head& head,
                     std::uint64_t version) const {
  auto material = storage::load_version(*db, view, head, version);
  return material ? rebuild(std::move(*material)).text : nullptr;
}

std::optional<std::uint64_t> Engine::advance_clock(bool accept) {
  const std::lock_guard lock(clock_mutex_);
  const auto time = wall();
  std::string reason;
  const bool believed = accept ? guard_.accept(time, &reason)
                               : guard_.believes(time, monotonic(), &reason);
  if (!believed) {
    if (options.listener) options.listener->on_clock_refused(reason);
    return std::nullopt;
  }
  db->set_last_seen(guard_.last_seen());
  db->raise_cutoff(time - kGrace);
  return std::max(time, db->cutoff());
}

void Engine::note_clock() {
  const std::lock_guard lock(clock_mutex_);
  const auto before = guard_.last_seen();
  if (guard_.believes(wall(), monotonic(), nullptr) &&
      guard_.last_seen() > before + kMinute) {
    db->set_last_seen(guard_.last_seen());
  }
}

bool Engine::expire(std::string_view user, std::string_view handle,
                    std::uint64_t time) {
  Mutation mutation;
  mutation.what = Mutation::What::expire;
  mutation.user = user;
  mutation.handle = handle;
  mutation.expired_by = time;
  submit(*this, mutation);
  if (mutation.refusal) throw *std::move(mutation.refusal);
  return mutation.changed;
}

std::uint64_t Engine::sweep_user(std::string_view user, std::uint64_t time,
                                 const std::function<bool()>& stopping) {
  std::uint64_t removed = 0;
  for (const auto& handle : views.of(user)->expired(time)) {
    if (stopping()) break;
    if (expire(user, handle, time)) ++removed;
  }
  if (options.listener) options.listener->on_sweep(removed);
  return removed;
}

void Engine::sweep_all(std::uint64_t time,
                       const std::function<bool()>& stopping) {
  constexpr std::size_t kChunk = 1000;
  std::uint64_t removed = 0;
  std::string from_user;
  std::string from_handle;
  for (bool more = true; more && !stopping();) {
    more = false;
    std::vector<std::pair<std::string, std::string>> found;
    std::size_t seen = 0;
    db->view().all_heads(
        from_user, from_handle,
        [&](const std::string& user, const std::string& handle,
            const Head& head) {
          if (++seen > kChunk) {
            from_user = user;
            from_handle = handle;
            more = true;
            return false;
          }
          if (head.status == storage::Status::live && head.deadline <= time) {
            found.emplace_back(user, handle);
          }
          return true;
        });
    for (const auto& [user, handle] : found) {
      if (stopping()) return;
      if (expire(user, handle, time)) ++removed;
    }
  }
  if (options.listener) options.listener->on_sweep(removed);
  if (!stopping()) db->compact_dead();
}

}  // namespace satchel::embedded
