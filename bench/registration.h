#pragma once
// How the benchmarks are named and registered:
// WORK/STORE/DURABILITY/BYTES/threads:N with STORE satchel or raw.

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "satchel/options.h"

namespace satchel::bench {

inline const char* text(Durability durability) {
  return durability == Durability::sync ? "sync" : "os";
}

inline void count(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations());
}

template <class Work>
void add(const std::string& name, Work work) {
  benchmark::RegisterBenchmark(name.c_str(), work)->UseRealTime();
}

template <class Work>
void add_threads(const std::string& name, Work work) {
  benchmark::RegisterBenchmark(name.c_str(), work)
      ->UseRealTime()
      ->Threads(1)
      ->Threads(4)
      ->Threads(8)
      ->Threads(16);
}

/// The key-value works (kv_bench.cc).
void add_kv();

}  // namespace satchel::bench
