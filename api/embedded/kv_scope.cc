#include "api/embedded/kv_scope.h"

#include <utility>

#include "api/embedded/arguments.h"
#include "api/embedded/cursor.h"
#include "api/embedded/embedded_store.h"
#include "api/embedded/errors.h"
#include "api/embedded/kv_arguments.h"
#include "api/embedded/kv_mutation.h"
#include "api/embedded/values.h"

namespace satchel::embedded {
namespace {

KvEntry to_entry(storage::KvRecord record) {
  return {Document::from_canonical(
              std::make_shared<const std::string>(std::move(record.value))),
          to_time(record.deadline)};
}

/// What a cursor over keys belongs to. Begins as no user does, so that none is
/// taken for a cursor over handles.
std::string cursor_query(std::string_view scope, std::string_view prefix) {
  return storage::escaped({}) + std::string(scope) + storage::escaped(prefix);
}

void run(Engine& engine, const std::string& scope, KvMutation& mutation) {
  submit(engine, scope, mutation);
  if (mutation.refusal) throw *std::move(mutation.refusal);
}

}  // namespace

EmbeddedKvScope::EmbeddedKvScope(EmbeddedStore& store, std::string_view user,
                                 std::string_view app)
    : store_(store),
      user_(user),
      app_(app),
      scope_(storage::scope_prefix(user, app)) {
  check_user(user);
  check_app(app);
}

template <class F>
auto EmbeddedKvScope::guarded(F call) const {
  return store_.guarded([&] {
    try {
      return call(store_.engine());
    } catch (const Error& error) {
      throw with_kv_code(error);
    }
  });
}

Result<std::optional<KvEntry>> EmbeddedKvScope::get(std::string_view key) {
  return guarded([&](Engine& engine) -> std::optional<KvEntry> {
    check_key(key, engine.options);
    auto record = engine.db->kv(scope_, key);
    if (!record || record->deadline <= engine.now()) return std::nullopt;
    return to_entry(*std::move(record));
  });
}

Result<Time> EmbeddedKvScope::set(std::string_view key, const KvValue& value,
                                  const KvSetOptions& options) {
  return guarded([&](Engine& engine) {
    KvMutation mutation;
    mutation.what = KvMutation::What::set;
    check_key(key, engine.options);
    mutation.key = key;
    mutation.ttl = checked_kv_ttl(options.ttl, engine.options);
    mutation.value = checked_value(value, "value", engine.options);
    mutation.if_absent = options.if_absent;
    if (options.expect_value) {
      if (options.if_absent) {
        throw invalid(
            "expect_value",
            "if_absent and expect_value exclude each other; give one");
      }
      mutation.expect_value =
          checked_value(*options.expect_value, "expect_value", engine.options);
    }
    store_.require_writable();
    run(engine, scope_, mutation);
    return to_time(mutation.deadline);
  });
}

Result<bool> EmbeddedKvScope::remove(std::string_view key) {
  return guarded([&](Engine& engine) {
    KvMutation mutation;
    mutation.what = KvMutation::What::remove;
    check_key(key, engine.options);
    mutation.key = key;
    store_.require_writable();
    run(engine, scope_, mutation);
    return mutation.removed > 0;
  });
}

Result<std::uint64_t> EmbeddedKvScope::remove_prefix(std::string_view prefix) {
  return guarded([&](Engine& engine) {
    KvMutation mutation;
    mutation.what = KvMutation::What::remove_prefix;
    check_prefix(prefix, engine.options);
    mutation.key = prefix;
    store_.require_writable();
    run(engine, scope_, mutation);
    return mutation.removed;
  });
}

Result<bool> EmbeddedKvScope::has(std::string_view key) {
  return guarded([&](Engine& engine) {
    check_key(key, engine.options);
    const auto deadline = engine.db->deadline_of(scope_, key);
    return deadline && *deadline > engine.now();
  });
}

Result<KvPage> EmbeddedKvScope::keys(const KvKeysOptions& options) {
  return guarded([&](Engine& engine) {
    check_prefix(options.prefix, engine.options);
    check_limit(options.limit);
    const auto& secret = engine.db->secret();
    const auto query = cursor_query(scope_, options.prefix);
    auto after = options.after;
    if (!after.empty()) check_after(options, engine.options);
    if (!options.cursor.empty()) {
      after = read_cursor(secret, query, options.cursor);
    }
    bool more;
    const auto rows = engine.scopes.of(scope_)->page(
        options.prefix, after, engine.now(), options.limit, &more);
    KvPage page;
    page.keys.reserve(rows.size());
    for (const auto& row : rows) {
      page.keys.push_back({row.key, to_time(row.deadline)});
    }
    if (more) page.cursor = make_cursor(secret, query, rows.back().key);
    return page;
  });
}

Result<std::int64_t> EmbeddedKvScope::increment(
    std::string_view key, const KvCounterOptions& options) {
  return guarded([&](Engine& engine) {
    KvMutation mutation;
    mutation.what = KvMutation::What::add;
    check_key(key, engine.options);
    mutation.key = key;
    mutation.ttl = checked_kv_ttl(options.ttl, engine.options);
    check_step(options.by);
    mutation.by = options.by;
    store_.require_writable();
    run(engine, scope_, mutation);
    return mutation.sum;
  });
}

Result<std::map<std::string, KvEntry>> EmbeddedKvScope::mget(
    const std::vector<std::string>& keys) {
  return guarded([&](Engine& engine) {
    check_mget(keys, engine.options);
    std::map<std::string, KvEntry> entries;
    const auto view = engine.db->view();
    const auto now = engine.now();
    for (const auto& key : keys) {
      auto record = view.kv(scope_, key);
      if (record && record->deadline > now) {
        entries.emplace(key, to_entry(*std::move(record)));
      }
    }
    return entries;
  });
}

Result<KvUsage> EmbeddedKvScope::usage() {
  return guarded([&](Engine& engine) {
    const auto usage = engine.scopes.of(scope_)->usage(engine.now());
    return KvUsage{user_, app_, usage.bytes, engine.options.kv_max_scope_bytes,
                   usage.keys};
  });
}

}  // namespace satchel::embedded
