#include "storage/version_log.h"

#include <algorithm>
#include <utility>

#include "storage/failure.h"

namespace satchel::storage {
namespace {

constexpr std::uint64_t kMaxDeltas = 1024;
constexpr std::uint64_t kMinDeltaBytes = 4096;

[[noreturn]] void missing() {
  throw Failure(Failure::Kind::corrupt,
                "records of a handle are missing: the store is damaged");
}

/// The base of the segment that holds `version`, if it can be read.
std::optional<BaseKey> find_base(const Database& db, const View& view,
                                 const Head& head, std::uint64_t version) {
  if (version >= head.base_version) {
    return BaseKey{head.hid, head.base_version, head.gc};
  }
  const auto chain = load_chain(db, view, head);
  if (chain.empty()) return std::nullopt;
  auto i = first_readable(chain, db.cutoff());
  if (chain[i].version > version) return std::nullopt;
  while (chain[i + 1].version <= version) ++i;
  return BaseKey{head.hid, chain[i].version, chain[i].gc};
}

void drop_segment(Transaction& txn, const Head& head, const Chain& chain,
                  std::size_t i) {
  txn.drop_base({head.hid, chain[i].version, chain[i].gc});
  const auto end =
      i + 1 < chain.size() ? chain[i + 1].version : head.version + 1;
  for (auto v = chain[i].version; v < end; ++v) txn.drop_log(head.hid, v);
}

/// How many segments at the front of the chain hold no promised version.
std::size_t unpromised(const Chain& chain, const Head& head,
                       const HistoryLimits& limits) {
  std::size_t count = chain.size() - 1;
  // Bytes newer than the last version of segment `count` - 1, the current
  // state's own text excluded.
  std::uint64_t newer = chain.back().delta_bytes;
  while (count > 0) {
    const auto last = chain[count].version - 1;
    if (head.version - last >= limits.versions || newer > limits.bytes) break;
    --count;
    newer += chain[count].base_bytes + chain[count].delta_bytes;
  }
  return count;
}

}  // namespace

std::optional<Material> load_version(const Database& db, const View& view,
                                     const Head& head, std::uint64_t version) {
  const auto key = find_base(db, view, head, version);
  if (!key) return std::nullopt;
  auto text = view.base(*key);
  Material material;
  auto next = key->version;
  view.log(key->hid, key->version + 1, version,
           [&](std::uint64_t v, LogRecord record) {
             if (v != next + 1 || record.gc != key->gc) return;
             ++next;
             if (record.what == What::patch) {
               material.ops.push_back(std::move(record.ops));
             }
           });
  if (!text || next != version) {
    // The cutoff is asked for only now: a filter that took something before
    // went by this cutoff or an earlier one.
    if (key->gc <= db.cutoff()) return std::nullopt;
    missing();
  }
  material.text = *std::move(text);
  return material;
}

Chain load_chain(const Database& db, const View& view, const Head& head) {
  Chain chain;
  view.bases(head.hid, head.oldest_base,
             [&](const BaseKey& key, std::size_t bytes) {
               if (key.version <= head.base_version) {
                 chain.push_back({key.version, key.gc, bytes, 0, true});
               }
             });
  // All records of a segment have the gc of its base: others are left of one
  // whose base is gone.
  std::vector<std::uint64_t> own(chain.size(), 0);
  std::size_t i = 0;
  if (!chain.empty()) {
    view.log(head.hid, chain.front().version, head.version,
             [&](std::uint64_t version, const LogRecord& record) {
               while (i + 1 < chain.size() && chain[i + 1].version <= version) {
                 ++i;
               }
               if (record.gc == chain[i].gc) ++own[i];
               chain[i].delta_bytes += record.ops.size();
             });
  }
  for (i = 0; i < chain.size(); ++i) {
    const auto end =
        i + 1 < chain.size() ? chain[i + 1].version : head.version + 1;
    chain[i].whole = own[i] == end - chain[i].version;
  }
  if (chain.empty() || chain.back().version != head.base_version ||
      !chain.back().whole) {
    if (head.gc <= db.cutoff()) return {};
    missing();
  }
  return chain;
}

std::size_t first_readable(const Chain& chain, std::uint64_t cutoff) {
  auto i = chain.size() - 1;
  while (i > 0 && chain[i - 1].whole && chain[i - 1].gc > cutoff) --i;
  return i;
}

bool wants_base(const Head& head, std::size_t ops_bytes) {
  return head.version - head.base_version >= kMaxDeltas ||
         head.delta_bytes + ops_bytes >=
             std::max(kMinDeltaBytes, head.state_bytes / 2);
}

void add_delta(Transaction& txn, Head& head, Chain* chain, LogRecord record) {
  record.gc = head.gc;
  ++head.version;
  head.delta_bytes += record.ops.size();
  if (chain != nullptr) chain->back().delta_bytes += record.ops.size();
  txn.put_log(head.hid, head.version, record);
}

void add_base(Transaction& txn, Head& head, Chain& chain, LogRecord record,
              std::string_view text, std::uint64_t gc,
              const HistoryLimits& limits, std::uint64_t cutoff) {
  record.gc = gc;
  ++head.version;
  head.base_version = head.version;
  head.gc = gc;
  head.delta_bytes = 0;
  txn.put_log(head.hid, head.version, record);
  txn.put_base({head.hid, head.version, gc}, text);
  chain.push_back({head.version, gc, text.size(), record.ops.size(), true});

  const auto drop =
      std::max(unpromised(chain, head, limits), first_readable(chain, cutoff));
  for (std::size_t i = 0; i < drop; ++i) drop_segment(txn, head, chain, i);
  chain.erase(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(drop));
  head.oldest_base = chain.front().version;
}

void drop_all(Transaction& txn, const Head& head, const Chain& chain) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    drop_segment(txn, head, chain, i);
  }
}

void drop_all(Transaction& txn, const Head& head, const View& view) {
  view.bases(head.hid, head.oldest_base,
             [&](const BaseKey& key, std::size_t) { txn.drop_base(key); });
  view.log(head.hid, head.oldest_base, head.version,
           [&](std::uint64_t version, const LogRecord&) {
             txn.drop_log(head.hid, version);
           });
}

}  // namespace satchel::storage
