// Key-value entries beside raw RocksDB that puts and gets the same bytes.

#include <string>
#include <vector>

#include "registration.h"
#include "workload.h"

namespace satchel::bench {
namespace {

using benchmark::State;
using namespace std::chrono_literals;

constexpr std::size_t kKeysPerThread = 64;
constexpr std::size_t kValueBytes = 100;
constexpr std::size_t kCounterBytes = 7;
constexpr auto kTtl = 1h;

/// Keys of one thread, written in turn.
class OwnKeys {
 public:
  explicit OwnKeys(const State& state) {
    for (std::size_t i = 0; i < kKeysPerThread; ++i) {
      keys_.push_back("thread:" + std::to_string(state.thread_index()) +
                      ":key:" + std::to_string(i));
    }
  }
  const std::string& next() { return keys_[turn_++ % keys_.size()]; }
  const std::vector<std::string>& all() const { return keys_; }

 private:
  std::vector<std::string> keys_;
  std::size_t turn_ = 0;
};

/// All threads write into one scope, or each into its own.
enum class Scopes { shared, own };

std::unique_ptr<KvScope> scope_for(const State& state, Durability durability,
                                   Scopes scopes) {
  auto app = std::string("bench");
  if (scopes == Scopes::own) app += std::to_string(state.thread_index());
  return shared_store(durability).scope(kUser, app).value();
}

std::string value_text() { return std::string(kValueBytes - 2, 'v'); }

void set(State& state, Durability durability, Scopes scopes) {
  const auto kv = scope_for(state, durability, scopes);
  const auto value = Document::from_json(value_text()).value();
  OwnKeys keys(state);
  for (auto _ : state) {
    (void)kv->set(keys.next(), value, {.ttl = kTtl}).value();
  }
  count(state);
}

void put_raw(State& state, Durability durability, std::size_t bytes,
             bool one_key) {
  auto& raw = shared_raw(durability);
  OwnKeys keys(state);
  const std::string hot = "counter";
  for (auto _ : state) raw.put_kv(one_key ? hot : keys.next(), bytes);
  count(state);
}

void increment(State& state, Durability durability, bool one_key) {
  const auto kv = shared_store(durability).scope(kUser, "counters").value();
  OwnKeys keys(state);
  const std::string hot = "counter";
  for (auto _ : state) {
    (void)kv->increment(one_key ? hot : keys.next(), {.ttl = kTtl}).value();
  }
  count(state);
}

enum class Read { get, has };

void read(State& state, Read what) {
  const auto kv = scope_for(state, Durability::os, Scopes::shared);
  OwnKeys keys(state);
  for (const auto& key : keys.all()) {
    (void)kv->set(key, value_text(), {.ttl = kTtl}).value();
  }
  for (auto _ : state) {
    if (what == Read::get) {
      benchmark::DoNotOptimize(
          kv->get(keys.next()).value()->value.size_bytes());
    } else {
      benchmark::DoNotOptimize(kv->has(keys.next()).value());
    }
  }
  count(state);
}

void get_raw(State& state) {
  auto& raw = shared_raw(Durability::os);
  OwnKeys keys(state);
  for (const auto& key : keys.all()) raw.put_kv(key, kValueBytes);
  for (auto _ : state) benchmark::DoNotOptimize(raw.get_kv(keys.next()));
  count(state);
}

std::string numbered(const char* prefix, int i) {
  auto digits = std::to_string(i);
  return prefix + std::string(6 - digits.size(), '0') + digits;
}

/// Whether the scope is in memory, or read anew for every page.
enum class Memory { warm, cold };

/// A scope with 1,000 keys in the middle of `deleted` removed ones.
std::unique_ptr<KvScope> scope_with_keys(HandleStore& store, int deleted,
                                         const std::string& name) {
  auto kv = store.scope("keys", name + std::to_string(deleted)).value();
  if (kv->usage().value().key_count != 0) return kv;
  for (int i = 0; i < deleted; ++i) {
    const auto key = numbered(i % 2 == 0 ? "a" : "k", i);
    (void)kv->set(key, 1, {.ttl = kTtl}).value();
    (void)kv->remove(key).value();
  }
  for (int i = 0; i < 1000; ++i) {
    (void)kv->set(numbered("k", i * 100), 1, {.ttl = kTtl}).value();
  }
  return kv;
}

void keys_page(State& state, int deleted, Memory memory) {
  auto& store = shared_store(Durability::os, memory == Memory::cold);
  std::unique_ptr<KvScope> scopes[2];
  if (state.thread_index() == 0) {
    scopes[0] = scope_with_keys(store, deleted, "one");
    scopes[1] = scope_with_keys(store, deleted, "two");
  } else {
    scopes[0] = store.scope("keys", "one" + std::to_string(deleted)).value();
  }
  // Where memory holds none, each of two drives the other out.
  std::size_t turn = 0;
  for (auto _ : state) {
    auto& kv = *scopes[memory == Memory::cold ? turn++ % 2 : 0];
    benchmark::DoNotOptimize(kv.keys({.prefix = "k"}).value().keys.size());
  }
  count(state);
}

void keys_page_raw(State& state, int deleted) {
  auto& raw = shared_raw(Durability::os);
  const auto app = "deleted" + std::to_string(deleted);
  if (state.thread_index() == 0 && raw.scan_kv(app, 1) == 0) {
    for (int i = 0; i < deleted; ++i) {
      const auto key = app + numbered(i % 2 == 0 ? "a" : "k", i);
      raw.put_kv(key, 1);
      raw.delete_kv(key);
    }
    for (int i = 0; i < 1000; ++i) raw.put_kv(app + numbered("k", i * 100), 1);
  }
  for (auto _ : state) benchmark::DoNotOptimize(raw.scan_kv(app + "k", 1000));
  count(state);
}

void add_reads() {
  const auto size = "/os/" + std::to_string(kValueBytes);
  add_threads("kv_get/satchel" + size, [](State& s) { read(s, Read::get); });
  add_threads("kv_get/raw" + size, get_raw);
  add_threads("kv_has/satchel" + size, [](State& s) { read(s, Read::has); });
  add_threads("kv_has/raw" + size, get_raw);
  for (const int deleted : {0, 100'000}) {
    const auto name =
        "kv_keys_1000_beside_" + std::to_string(deleted) + "_deleted";
    add_threads(name + "/satchel/os/0",
                [=](State& s) { keys_page(s, deleted, Memory::warm); });
    add_threads(name + "/raw/os/0",
                [=](State& s) { keys_page_raw(s, deleted); });
    add(name + "_cold/satchel/os/0",
        [=](State& s) { keys_page(s, deleted, Memory::cold); });
    add(name + "_cold/raw/os/0", [=](State& s) { keys_page_raw(s, deleted); });
  }
}

}  // namespace

void add_kv() {
  for (const auto d : {Durability::sync, Durability::os}) {
    const auto value =
        std::string("/") + text(d) + "/" + std::to_string(kValueBytes);
    const auto counter =
        std::string("/") + text(d) + "/" + std::to_string(kCounterBytes);
    const auto raw_set = [=](State& s) { put_raw(s, d, kValueBytes, false); };
    add_threads("kv_set/satchel" + value,
                [=](State& s) { set(s, d, Scopes::shared); });
    add_threads("kv_set/raw" + value, raw_set);
    add_threads("kv_set_own_scopes/satchel" + value,
                [=](State& s) { set(s, d, Scopes::own); });
    add_threads("kv_set_own_scopes/raw" + value, raw_set);
    for (const bool hot : {true, false}) {
      const auto name = std::string("kv_increment_") + (hot ? "hot" : "spread");
      add_threads(name + "/satchel" + counter,
                  [=](State& s) { increment(s, d, hot); });
      add_threads(name + "/raw" + counter,
                  [=](State& s) { put_raw(s, d, kCounterBytes, hot); });
    }
  }
  add_reads();
}

}  // namespace satchel::bench
