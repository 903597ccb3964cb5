#pragma once
// Which program, on-disk format and storage engine this library is.

#include <cstdint>
#include <string>

namespace satchel {

struct Versions {
  /// Of this library and its program, for example "0.1.0".
  std::string program;
  /// Format number of the stores that it writes.
  std::uint32_t format = 0;
  /// Version of the RocksDB library in use.
  std::string rocksdb;
};

/// Thread-safe.
Versions versions();

/// {"ok":true,program,format,rocksdb}, one compact line.
std::string to_object(const Versions& versions);

}  // namespace satchel
