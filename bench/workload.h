#pragma once
// What the benchmarks write: states and ops of given sizes, and the stores they
// go to.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "raw_store.h"
#include "satchel/store.h"

namespace satchel::bench {

inline constexpr const char* kUser = "user";
inline constexpr std::size_t kOpBytes = 160;

/// A state of about `bytes` of canonical text.
Document state_of(std::size_t bytes);

/// One op of about kOpBytes; states keep their size under many of them.
Json op_number(std::uint64_t n);

/// Holds the stores of a run; must end before main() does, since RocksDB's own
/// globals go first otherwise.
struct Session {
  Session();
  ~Session();
};

/// A new folder below $SATCHEL_BENCH_DIR (the working directory unless set),
/// removed when the program ends.
std::string new_folder();

/// Stores that all benchmarks share, opened on first use, one each for a
/// durability; `cold` ones have no cache.
HandleStore& shared_store(Durability durability, bool cold = false);
RawStore& shared_raw(Durability durability);

/// Bytes that this process has handed to the file system so far.
std::uint64_t bytes_written();

}  // namespace satchel::bench
