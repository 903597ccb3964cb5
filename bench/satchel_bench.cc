// Single operations of the store beside raw RocksDB writing the same records,
// in one run. bench/run.sh interleaves them and makes the table.

#include <benchmark/benchmark.h>

#include <atomic>
#include <string>
#include <vector>

#include "registration.h"
#include "workload.h"

namespace satchel::bench {
namespace {

using benchmark::State;

constexpr std::uint64_t kHandlesPerThread = 8;

std::atomic<std::uint64_t> next_raw_hid{1};

/// Handles of one thread, written in turn.
class OwnHandles {
 public:
  OwnHandles(HandleStore& store, std::size_t bytes) : state_(state_of(bytes)) {
    for (std::uint64_t i = 0; i < kHandlesPerThread; ++i) {
      handles_.push_back(store.mint("bench", state_, {.user = kUser}).value());
    }
  }
  HandleInfo& next() { return handles_[turn_++ % handles_.size()]; }
  const Document& state() const { return state_; }

 private:
  const Document state_;
  std::vector<Snapshot> handles_;
  std::size_t turn_ = 0;
};

/// The same for raw RocksDB.
struct RawHandles {
  RawHandles(RawStore& raw, std::size_t bytes) {
    for (auto& each : versions) each = 1;
    first = next_raw_hid.fetch_add(kHandlesPerThread);
    for (std::uint64_t i = 0; i < kHandlesPerThread; ++i) {
      raw.mint(first + i, bytes);
    }
  }
  std::uint64_t first;
  std::uint64_t versions[kHandlesPerThread];
  std::size_t turn = 0;
};

void save(State& state, Durability durability, std::size_t bytes) {
  auto& store = shared_store(durability);
  OwnHandles handles(store, bytes);
  for (auto _ : state) {
    auto& handle = handles.next();
    handle = store
                 .save(handle.handle, handles.state(),
                       {.user = kUser, .expect_version = handle.version})
                 .value();
  }
  count(state);
}

void save_raw(State& state, Durability durability, std::size_t bytes) {
  auto& raw = shared_raw(durability);
  RawHandles handles(raw, bytes);
  for (auto _ : state) {
    const auto i = handles.turn++ % kHandlesPerThread;
    raw.save(handles.first + i, ++handles.versions[i], bytes);
  }
  count(state);
}

void patch(State& state, Durability durability, std::size_t bytes) {
  auto& store = shared_store(durability);
  OwnHandles handles(store, bytes);
  std::uint64_t n = 0;
  // The first patch of a state builds its tree; that is a cold get's cost.
  for (; n < kHandlesPerThread; ++n) {
    (void)store.patch(handles.next().handle, op_number(n), {.user = kUser})
        .value();
  }
  for (auto _ : state) {
    (void)store.patch(handles.next().handle, op_number(n++), {.user = kUser})
        .value();
  }
  count(state);
}

void patch_raw(State& state, Durability durability, std::size_t bytes) {
  auto& raw = shared_raw(durability);
  RawHandles handles(raw, bytes);
  for (auto _ : state) {
    const auto i = handles.turn++ % kHandlesPerThread;
    raw.patch(handles.first + i, ++handles.versions[i], kOpBytes);
  }
  count(state);
}

/// All threads on one handle. Raw RocksDB has no such thing to fight over: its
/// row is patch_raw.
void patch_hot(State& state, Durability durability, std::size_t bytes) {
  auto& store = shared_store(durability);
  static std::string handle;
  if (state.thread_index() == 0) {
    handle =
        store.mint("bench", state_of(bytes), {.user = kUser}).value().handle;
  }
  auto n = static_cast<std::uint64_t>(state.thread_index()) << 32;
  for (auto _ : state) {
    (void)store.patch(handle, op_number(n++), {.user = kUser}).value();
  }
  count(state);
}

void touch(State& state, Durability durability, std::size_t bytes) {
  auto& store = shared_store(durability);
  OwnHandles handles(store, bytes);
  for (auto _ : state) {
    (void)store
        .touch(handles.next().handle, {.user = kUser, .ttl = Ttl::persist()})
        .value();
  }
  count(state);
}

void touch_raw(State& state, Durability durability, std::size_t bytes) {
  auto& raw = shared_raw(durability);
  RawHandles handles(raw, bytes);
  for (auto _ : state) {
    const auto i = handles.turn++ % kHandlesPerThread;
    raw.patch(handles.first + i, ++handles.versions[i], 0);
  }
  count(state);
}

void mint(State& state, Durability durability, std::size_t bytes) {
  auto& store = shared_store(durability);
  const auto document = state_of(bytes);
  const auto user = "mint" + std::to_string(next_raw_hid++);
  for (auto _ : state) {
    (void)store.mint("bench", document, {.user = user}).value();
  }
  count(state);
}

void mint_raw(State& state, Durability durability, std::size_t bytes) {
  auto& raw = shared_raw(durability);
  for (auto _ : state) raw.mint(next_raw_hid++, bytes);
  count(state);
}

enum class Temperature { cached, cold_text, cold_tree };

void get(State& state, Temperature temperature, std::size_t bytes) {
  auto& store =
      shared_store(Durability::os, temperature != Temperature::cached);
  OwnHandles handles(store, bytes);
  for (auto _ : state) {
    const auto found =
        store.get(handles.next().handle, {.user = kUser}).value();
    if (temperature == Temperature::cold_tree) {
      benchmark::DoNotOptimize(found.state->json().size());
    } else {
      benchmark::DoNotOptimize(found.state->text().data());
    }
  }
  count(state);
}

void get_raw(State& state, std::size_t bytes) {
  auto& raw = shared_raw(Durability::os);
  RawHandles handles(raw, bytes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        raw.get(handles.first + handles.turn++ % kHandlesPerThread, 1));
  }
  count(state);
}

void list(State& state, std::uint32_t limit, int held) {
  auto& store = shared_store(Durability::os);
  const auto user = "list" + std::to_string(held);
  // One page of one is a cheap question whether a run before minted them.
  if (store.list(user, {.limit = 1}).value().handles.empty()) {
    for (int i = 0; i < held; ++i) {
      (void)store.mint("bench", Document(), {.user = user}).value();
    }
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        store.list(user, {.limit = limit}).value().handles.data());
  }
  count(state);
}

/// Bytes given to the file system for a byte of ops, over enough patches that
/// flushes and compactions are in it.
void write_amplification(State& state, std::size_t bytes) {
  constexpr std::uint64_t kPatches = 100'000;
  for (auto _ : state) {
    Options options;
    options.durability = Durability::os;
    options.sweeper = false;
    options.cache_bytes = std::size_t{512} << 20;
    const auto store = HandleStore::open(new_folder(), options).value();
    OwnHandles handles(*store, bytes);
    const auto before = bytes_written();
    std::uint64_t ops = 0;
    for (std::uint64_t n = 0; n < kPatches; ++n) {
      const auto op = op_number(n);
      ops += op.dump().size();
      (void)store->patch(handles.next().handle, op, {.user = kUser}).value();
    }
    store->close().value();
    state.counters["written_per_op_byte"] =
        static_cast<double>(bytes_written() - before) /
        static_cast<double>(ops);
  }
}

using Write = void (*)(State&, Durability, std::size_t);

void add_writes(const std::string& work, Write satchel, Write raw,
                const std::vector<std::size_t>& sizes) {
  for (const auto durability : {Durability::sync, Durability::os}) {
    for (const auto bytes : sizes) {
      const auto tail =
          std::string("/") + text(durability) + "/" + std::to_string(bytes);
      add_threads(work + "/satchel" + tail,
                  [=](State& state) { satchel(state, durability, bytes); });
      add_threads(work + "/raw" + tail,
                  [=](State& state) { raw(state, durability, bytes); });
    }
  }
}

void add_all() {
  const std::vector<std::size_t> all = {200, 4096, 65536, 524288};
  add_writes("save", save, save_raw, all);
  add_writes("patch", patch, patch_raw, {1024, 4096, 65536, 524288});
  add_writes("patch_hot", patch_hot, patch_raw, {4096});
  add_writes("touch", touch, touch_raw, {4096});
  add_writes("mint", mint, mint_raw, {200, 4096});
  for (const auto bytes : all) {
    const auto size = "/os/" + std::to_string(bytes);
    add_threads("get_cached/satchel" + size,
                [=](State& state) { get(state, Temperature::cached, bytes); });
    add("get_cold_text/satchel" + size,
        [=](State& state) { get(state, Temperature::cold_text, bytes); });
    add("get_cold_text/raw" + size,
        [=](State& state) { get_raw(state, bytes); });
    add("get_cold_tree/satchel" + size,
        [=](State& state) { get(state, Temperature::cold_tree, bytes); });
  }
  add("list_20_of_20/satchel/os/0", [](State& s) { list(s, 20, 20); });
  add("list_20_of_10000/satchel/os/0", [](State& s) { list(s, 20, 10'000); });
  add("list_1000_of_10000/satchel/os/0",
      [](State& s) { list(s, 1000, 10'000); });
  for (const std::size_t bytes : {1024, 65536, 524288}) {
    benchmark::RegisterBenchmark(
        ("write_amplification/satchel/os/" + std::to_string(bytes)).c_str(),
        [=](State& state) { write_amplification(state, bytes); })
        ->Iterations(1);
  }
}

}  // namespace
}  // namespace satchel::bench

int main(int argc, char** argv) {
  satchel::bench::add_all();
  satchel::bench::add_kv();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  {
    const satchel::bench::Session session;
    benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::Shutdown();
}
