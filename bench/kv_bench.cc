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

/// A page of 1,000 keys in the middle of `deleted` removed ones.
void keys_page(State& state, int deleted) {
  const auto kv = shared_store(Durability::os)
                      .scope("keys", "deleted" + std::to_string(deleted))
                      .value();
  if (state.thread_index() == 0 && kv->usage().value().key_count == 0) {
    for (int i = 0; i < deleted; ++i) {
      const auto key = numbered(i % 2 == 0 ? "a" : "k", i);
      (void)kv->set(key, 1, {.ttl = kTtl}).value();
      (void)kv->remove(key).value();
    }
    for (int i = 0; i < 1000; ++i) {
      (void)kv->set(numbered("k", i * 100), 1, {.ttl = kTtl}).value();
    }
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(kv->keys({.prefix = "k"}).value().keys.size());
  }
  count(state);
}

void keys_page_raw(State& state) {
  auto& raw = shared_raw(Durability::os);
  if (state.thread_index() == 0) {
    for (int i = 0; i < 1000; ++i) raw.put_kv(numbered("k", i * 100), 1);
  }
  for (auto _ : state) benchmark::DoNotOptimize(raw.scan_kv("k", 1000));
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
                [=](State& s) { keys_page(s, deleted); });
    add_threads(name + "/raw/os/0", keys_page_raw);
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
