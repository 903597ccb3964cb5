#include "api/embedded/embedded_store.h"

#include <utility>

#include "api/embedded/arguments.h"
#include "api/embedded/cursor.h"
#include "api/embedded/errors.h"
#include "api/embedded/fingerprint.h"
#include "api/embedded/kv_arguments.h"
#include "api/embedded/kv_scope.h"
#include "api/embedded/reads.h"
#include "api/embedded/requests.h"
#include "api/embedded/values.h"
#include "json_text.h"
#include "path.h"

namespace satchel::embedded {
namespace {

using storage::Operation;

/// Fills in what all mutations of a handle have, checked.
template <class O>
Mutation begin(Mutation::What what, std::string_view handle, const O& options) {
  check_user(options.user);
  check_request_id(options.request_id);
  Mutation mutation;
  mutation.what = what;
  mutation.user = options.user;
  mutation.handle = handle;
  mutation.request_id = options.request_id;
  if constexpr (requires { options.writer; }) {
    check_writer(options.writer);
    mutation.writer = options.writer;
    mutation.return_state = options.return_state;
  }
  return mutation;
}

FingerprintBuilder fingerprint(Operation operation, std::string_view handle) {
  FingerprintBuilder builder(operation);
  builder.add(handle);
  return builder;
}

/// `ops` as the log keeps them: an array, also when one op was given.
std::string as_array(const Document& ops) {
  return ops.text().front() == '[' ? ops.text() : '[' + ops.text() + ']';
}

}  // namespace

EmbeddedStore::EmbeddedStore(Options options,
                             std::unique_ptr<storage::Database> db)
    : engine_(std::make_unique<Engine>(std::move(options), std::move(db))) {
  const auto& own = engine_->options;
  if (own.read_only) return;
  engine_->note_clock();
  if (own.sweeper)
    sweeper_.emplace(own.sweep_interval, [this] { sweep_all(); });
  if (own.durability == Durability::interval) {
    syncer_.emplace(own.sync_interval, [this] {
      try {
        engine_->db->sync();
      } catch (...) {
        const auto error = current_error();
        const auto& listener = engine_->options.listener;
        if (listener) listener->on_background_error(error);
      }
    });
  }
}

EmbeddedStore::~EmbeddedStore() { (void)close(); }

void EmbeddedStore::sweep_all() {
  try {
    if (const auto time = engine_->advance_clock(false)) {
      engine_->sweep_all(*time, [this] { return closed_.load(); });
    }
  } catch (...) {
    const auto error = current_error();
    const auto& listener = engine_->options.listener;
    if (listener && !closed_) listener->on_background_error(error);
  }
}

void EmbeddedStore::require_writable() const {
  if (engine_->options.read_only) {
    throw Error(ErrorCode::read_only,
                "the store was opened read-only; open it for writing");
  }
}

Snapshot EmbeddedStore::run(Mutation mutation) {
  require_writable();
  submit(*engine_, mutation);
  if (mutation.refusal) throw *std::move(mutation.refusal);
  if (mutation.replayed && mutation.return_state) {
    add_replayed_state(*engine_, mutation.user, &mutation.snapshot);
  }
  return std::move(mutation.snapshot);
}

Result<Snapshot> EmbeddedStore::mint(std::string_view kind,
                                     const JsonInput& state,
                                     const MintOptions& options) {
  return guarded([&] {
    check_user(options.user);
    check_kind(kind);
    check_writer(options.writer);
    check_request_id(options.request_id);
    check_ttl(options.ttl);
    require_writable();
    MintCall call{std::string(kind),
                  checked_state(state, engine_->options.max_state_bytes),
                  options,
                  {}};
    if (!options.request_id.empty()) {
      call.fingerprint = fingerprint(Operation::mint, kind)
                             .add(call.state.text())
                             .add(options.ttl)
                             .finish();
    }
    return embedded::mint(*engine_, call);
  });
}

Result<Snapshot> EmbeddedStore::get(std::string_view handle,
                                    const GetOptions& options) {
  return guarded([&] {
    check_user(options.user);
    auto snapshot =
        options.version
            ? read_version(*engine_, options.user, handle, *options.version)
            : read_current(*engine_, options.user, handle);
    if (options.path) {
      auto part = subtree(*snapshot.state, *options.path);
      if (!part.ok()) throw part.error();
      snapshot.state = *std::move(part);
      snapshot.path = options.path;
    }
    return snapshot;
  });
}

Result<Snapshot> EmbeddedStore::save(std::string_view handle,
                                     const JsonInput& state,
                                     const SaveOptions& options) {
  return guarded([&] {
    auto mutation = begin(Mutation::What::save, handle, options);
    check_ttl(options.ttl);
    if (options.expect_version.value_or(0) == 0) {
      throw invalid("expect_version",
                    "a save needs expect_version: the version that the new "
                    "state was made from");
    }
    mutation.state = checked_state(state, engine_->options.max_state_bytes);
    mutation.ttl = options.ttl;
    mutation.expect_version = options.expect_version;
    if (!options.request_id.empty()) {
      mutation.fingerprint = fingerprint(Operation::save, handle)
                                 .add(mutation.state.text())
                                 .add(options.expect_version)
                                 .add(options.ttl)
                                 .finish();
    }
    return run(std::move(mutation));
  });
}

Result<Snapshot> EmbeddedStore::patch(std::string_view handle,
                                      const JsonInput& ops,
                                      const PatchOptions& options) {
  return guarded([&] {
    auto mutation = begin(Mutation::What::patch, handle, options);
    const auto document = checked_ops(ops);
    auto parsed = parse_ops(document);
    if (!parsed.ok()) throw parsed.error();
    mutation.ops = *std::move(parsed);
    mutation.ops_text = as_array(document);
    if (!options.request_id.empty()) {
      mutation.fingerprint =
          fingerprint(Operation::patch, handle).add(document.text()).finish();
    }
    return run(std::move(mutation));
  });
}

Result<Snapshot> EmbeddedStore::touch(std::string_view handle,
                                      const TouchOptions& options) {
  return guarded([&] {
    auto mutation = begin(Mutation::What::touch, handle, options);
    if (options.ttl.kind() == Ttl::Kind::keep) {
      throw invalid("ttl",
                    "a touch needs a ttl, or to be told that the handle shall "
                    "never expire");
    }
    check_ttl(options.ttl);
    mutation.ttl = options.ttl;
    if (!options.request_id.empty()) {
      mutation.fingerprint =
          fingerprint(Operation::touch, handle).add(options.ttl).finish();
    }
    return run(std::move(mutation));
  });
}

Result<ListPage> EmbeddedStore::list(std::string_view user,
                                     const ListOptions& options) {
  return guarded([&] {
    check_user(user);
    if (!options.kind.empty()) check_kind(options.kind);
    check_limit(options.limit);
    const auto& secret = engine_->db->secret();
    const ListQuery query{user, options.kind, options.include_expired};
    std::optional<storage::UserView::Position> after;
    if (!options.cursor.empty()) {
      after = read_cursor(secret, query, options.cursor);
    }
    bool more;
    const auto rows = engine_->views.of(user)->page(
        after, options.kind, options.include_expired, engine_->now(),
        options.limit, &more);
    ListPage page;
    page.handles.reserve(rows.size());
    for (const auto& row : rows) {
      page.handles.push_back(to_info(row.handle, row.head));
    }
    if (more) {
      page.cursor = make_cursor(secret, query,
                                {rows.back().head.updated, rows.back().handle});
    }
    return page;
  });
}

Result<void> EmbeddedStore::revoke(std::string_view handle,
                                   const RevokeOptions& options) {
  return guarded([&] {
    auto mutation = begin(Mutation::What::revoke, handle, options);
    if (!options.request_id.empty()) {
      mutation.fingerprint = fingerprint(Operation::revoke, handle).finish();
    }
    run(std::move(mutation));
  });
}

Result<std::uint64_t> EmbeddedStore::sweep(std::string_view user,
                                           bool accept_clock) {
  return guarded([&]() -> std::uint64_t {
    check_user(user);
    require_writable();
    const auto time = engine_->advance_clock(accept_clock);
    if (!time) return 0;
    return engine_->sweep_user(user, *time, [this] { return closed_.load(); });
  });
}

Result<History> EmbeddedStore::history(std::string_view handle,
                                       std::string_view user) {
  return guarded([&] {
    check_user(user);
    return read_history(*engine_, user, handle);
  });
}

Result<Changes> EmbeddedStore::changes_since(std::string_view handle,
                                             std::uint64_t since,
                                             std::string_view user) {
  return guarded([&] {
    check_user(user);
    return read_changes(*engine_, user, handle, since);
  });
}

Result<Snapshot> EmbeddedStore::revert(std::string_view handle,
                                       std::uint64_t to_version,
                                       const RevertOptions& options) {
  return guarded([&] {
    auto mutation = begin(Mutation::What::revert, handle, options);
    mutation.to_version = to_version;
    mutation.expect_version = options.expect_version;
    if (!options.request_id.empty()) {
      mutation.fingerprint = fingerprint(Operation::revert, handle)
                                 .add(to_version)
                                 .add(options.expect_version)
                                 .finish();
    }
    return run(std::move(mutation));
  });
}

Result<std::unique_ptr<KvScope>> EmbeddedStore::scope(std::string_view user,
                                                      std::string_view app) {
  try {
    return std::unique_ptr<KvScope>(
        std::make_unique<EmbeddedKvScope>(*this, user, app));
  } catch (...) {
    return with_kv_code(current_error());
  }
}

Result<void> EmbeddedStore::close() {
  if (closed_.exchange(true)) return {};
  engine_->db->stop_compacting();
  sweeper_.reset();
  syncer_.reset();
  const std::unique_lock lock(closing_);
  Result<void> result;
  try {
    engine_->db->sync();
  } catch (...) {
    result = current_error();
  }
  if (result.ok() && !engine_->options.read_only) tidy();
  engine_.reset();
  return result;
}

void EmbeddedStore::tidy() noexcept {
  try {
    engine_->db->merge_small_files();
  } catch (...) {
    // What was acknowledged is durable all the same.
    const auto error = current_error();
    const auto& listener = engine_->options.listener;
    if (listener) listener->on_background_error(error);
  }
}

}  // namespace satchel::embedded
