#include "api/embedded/reads.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/embedded/errors.h"
#include "api/embedded/values.h"

namespace satchel::embedded {
namespace {

using storage::Head;
using storage::LogRecord;
using storage::View;

/// The handle at one moment, alive.
struct Moment {
  Moment(Engine& engine, std::string_view user, std::string_view handle)
      : view(engine.db->view()) {
    auto found = view.head(user, handle);
    if (!found) throw handle_not_found(false);
    require_alive(*found, engine.now(), false);
    head = *std::move(found);
  }

  View view;
  Head head;
};

struct Version {
  std::uint64_t number;
  LogRecord record;
};

/// None when the cutoff overtook the handle.
std::optional<std::uint64_t> oldest_version(const Engine& engine,
                                            const Moment& moment) {
  const auto chain = storage::load_chain(*engine.db, moment.view, moment.head);
  if (chain.empty()) return std::nullopt;
  return chain[storage::first_readable(chain, engine.db->cutoff())].version;
}

/// The log records of [from, head.version]; none when the cutoff took some of
/// them meanwhile.
std::optional<std::vector<Version>> records(const Engine& engine,
                                            const Moment& moment,
                                            std::uint64_t from) {
  std::vector<Version> all;
  // Above the current base all must be there; below, the cutoff may have taken
  // some since it was asked.
  const auto& head = moment.head;
  const auto first = std::max(from, head.base_version);
  std::uint64_t current = 0;
  moment.view.log(head.hid, from, head.version,
                  [&](std::uint64_t version, LogRecord record) {
                    if (version >= first) ++current;
                    all.push_back({version, std::move(record)});
                  });
  if (all.size() == head.version + 1 - from) return all;
  if (current != head.version + 1 - first && engine.db->cutoff() < head.gc) {
    throw storage::Failure(storage::Failure::Kind::corrupt,
                           "records of a handle are missing: the store is "
                           "damaged");
  }
  return std::nullopt;
}

VersionInfo to_version_info(const Version& version) {
  return {version.number, to_time(version.record.time), version.record.writer,
          to_change(version.record.what)};
}

/// Runs `read` until the cutoff does not overtake it; each time it does, the
/// history has become shorter.
template <class F>
auto retried(F read) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (auto result = read()) return *std::move(result);
  }
  throw storage::Failure(storage::Failure::Kind::corrupt,
                         "a handle cannot be read");
}

}  // namespace

Snapshot read_current(Engine& engine, std::string_view user,
                      std::string_view handle) {
  auto current = engine.current(user, handle);
  return {to_info(handle, current.head),
          Document::from_canonical(std::move(current.text)),
          {}};
}

Snapshot read_version(Engine& engine, std::string_view user,
                      std::string_view handle, std::uint64_t version) {
  return retried([&]() -> std::optional<Snapshot> {
    const Moment moment(engine, user, handle);
    const auto& head = moment.head;
    if (version < 1 || version > head.version) {
      throw invalid("version", "the current version is " +
                                   std::to_string(head.version) +
                                   "; ask for that or an earlier one");
    }
    auto text = engine.text_at(moment.view, head, version);
    if (!text) {
      const auto oldest = oldest_version(engine, moment);
      if (!oldest || version >= *oldest) return std::nullopt;
      throw version_gone(*oldest);
    }
    Snapshot snapshot{
        to_info(handle, head), Document::from_canonical(std::move(text)), {}};
    if (version == head.version) return snapshot;
    const auto tail = records(engine, moment, version);
    if (!tail) return std::nullopt;
    snapshot.version = version;
    snapshot.updated_at = to_time(tail->front().record.time);
    snapshot.last_writer = tail->front().record.writer;
    return snapshot;
  });
}

History read_history(Engine& engine, std::string_view user,
                     std::string_view handle) {
  return retried([&]() -> std::optional<History> {
    const Moment moment(engine, user, handle);
    const auto oldest = oldest_version(engine, moment);
    if (!oldest) return std::nullopt;
    History history{std::string(handle), *oldest, {}};
    const auto all = records(engine, moment, *oldest);
    if (!all) return std::nullopt;
    for (auto it = all->rbegin(); it != all->rend(); ++it) {
      history.versions.push_back(to_version_info(*it));
    }
    return history;
  });
}

Changes read_changes(Engine& engine, std::string_view user,
                     std::string_view handle, std::uint64_t since) {
  return retried([&]() -> std::optional<Changes> {
    const Moment moment(engine, user, handle);
    const auto& head = moment.head;
    if (since > head.version) {
      throw invalid("since", "the current version is " +
                                 std::to_string(head.version) +
                                 "; since is that or an earlier one");
    }
    Changes changes;
    changes.handle = handle;
    changes.since = since;
    changes.version = head.version;
    const auto oldest_kept =
        since == head.version ? since : oldest_version(engine, moment);
    if (!oldest_kept) return std::nullopt;
    const auto oldest = *oldest_kept;
    std::vector<Version> tail;
    if (since + 1 < oldest) {
      changes.kind = Changes::Kind::too_old;
      changes.oldest = oldest;
    } else if (since < head.version) {
      auto found = records(engine, moment, since + 1);
      if (!found) return std::nullopt;
      tail = *std::move(found);
    }
    for (auto& version : tail) {
      const auto what = version.record.what;
      if (what != storage::What::patch && what != storage::What::touch) {
        changes.kind = Changes::Kind::replaced;
      }
      if (version.record.ops.empty()) version.record.ops = "[]";
      Changes::Entry entry{to_version_info(version), {}};
      entry.ops = Document::from_canonical(
          std::make_shared<const std::string>(std::move(version.record.ops)));
      changes.entries.push_back(std::move(entry));
    }
    if (changes.kind == Changes::Kind::changes) return changes;
    changes.entries.clear();
    auto text = engine.text_at(moment.view, head, head.version);
    if (!text) return std::nullopt;
    changes.state = Document::from_canonical(std::move(text));
    return changes;
  });
}

}  // namespace satchel::embedded
