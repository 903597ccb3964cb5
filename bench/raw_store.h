#pragma once
// The limit of the design: RocksDB, with the store's options where they matter,
// writing what the store writes, in one batch and with no thought.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace satchel::bench {

class RawStore {
 public:
  RawStore(const std::string& folder, bool sync);
  ~RawStore();

  /// The records of a save of `state_bytes`: head, log and a new base; the base
  /// and log record of the version that falls out of the history go.
  void save(std::uint64_t hid, std::uint64_t version, std::size_t state_bytes);
  /// The records of a patch, touch (`ops_bytes` 0): head and log.
  void patch(std::uint64_t hid, std::uint64_t version, std::size_t ops_bytes);
  /// The records of a mint: head, log, base.
  void mint(std::uint64_t hid, std::size_t state_bytes);
  /// Reads head and base as a cold get does; returns the bytes seen.
  std::size_t get(std::uint64_t hid, std::uint64_t version);

  /// The record of a key-value entry whose text has `value_bytes`.
  void put_kv(const std::string& key, std::size_t value_bytes);
  void delete_kv(const std::string& key);
  /// Reads it; returns the bytes seen.
  std::size_t get_kv(const std::string& key);
  /// Reads up to `limit` entries that begin with `prefix`; returns how many.
  std::size_t scan_kv(const std::string& prefix, std::size_t limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace satchel::bench
