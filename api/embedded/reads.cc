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

std::uint64_t oldest_version(const Engine& engine, const Moment& moment) {
  const auto chain = storage::load_chain(moment.view, moment.head);
  return chain[storage::first_readable(chain, engine.db->cutoff())].version;
}

/// The log records of [from, head.version]; none when the cutoff took some of
/// them meanwhile.
std::optional<std::vector<Version>> records(const Engine& engine,
                                            const Moment& moment,
                                            std::uint64_t from) {
  std::vector<Version> all;
  auto lowest_gc = storage::kNever;
  moment.view.log(moment.head.hid, from, moment.head.version,
                  [&](std::uint64_t version, LogRecord record) {
                    lowest_gc = std::min(lowest_gc, record.gc);
                    all.push_back({version, std::move(record)});
                  });
  if (all.size() == moment.head.version + 1 - from) return all;
  // A segment of which nothing is left any more shows in the chain alone.
  if (engine.db->cutoff() < std::min(lowest_gc, moment.head.gc) &&
      oldest_version(engine, moment) <= from) {
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
      require_alive(head, engine.now(), false);
      throw version_gone(oldest_version(engine, moment));
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
    History history{std::string(handle), oldest_version(engine, moment), {}};
    const auto all = records(engine, moment, history.oldest);
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
    const auto oldest =
        since == head.version ? since : oldest_version(engine, moment);
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
