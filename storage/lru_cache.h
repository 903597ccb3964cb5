#pragma once
// A cache of shared values, bounded by bytes, with protection against values
// that were read before a change and arrive after it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace satchel::storage {

/// Thread-safe. Least recently used values go first.
template <class Value>
class LruCache {
 public:
  explicit LruCache(std::size_t capacity_bytes)
      : capacity_(capacity_bytes / kShards) {}

  /// The value, or null; then `epoch`, for insert(), tells this moment.
  std::shared_ptr<Value> find(const std::string& key,
                              std::uint64_t* epoch = nullptr) {
    auto& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    if (epoch != nullptr) *epoch = shard.epoch_of(key);
    const auto it = shard.index.find(key);
    if (it == shard.index.end()) return nullptr;
    shard.order.splice(shard.order.begin(), shard.order, it->second);
    return it->second->value;
  }

  /// Keeps a value that was read after find() gave `epoch`, unless the key may
  /// have changed since.
  void insert(const std::string& key, std::shared_ptr<Value> value,
              std::size_t bytes, std::uint64_t epoch) {
    auto& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    if (shard.epoch_of(key) == epoch) put(shard, key, std::move(value), bytes);
  }

  /// Keeps the newest value, known to be so by the only writer of the key.
  void replace(const std::string& key, std::shared_ptr<Value> value,
               std::size_t bytes) {
    auto& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    ++shard.epoch_of(key);
    put(shard, key, std::move(value), bytes);
  }

  /// `value` takes this much now; nothing happens when it is not cached.
  void resize(const std::string& key, const std::shared_ptr<Value>& value,
              std::size_t bytes) {
    auto& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    const auto it = shard.index.find(key);
    if (it == shard.index.end() || it->second->value != value) return;
    put(shard, key, value, bytes);
  }

  void erase(const std::string& key) {
    auto& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    ++shard.epoch_of(key);
    remove(shard, key);
  }

 private:
  struct Node {
    std::string key;
    std::shared_ptr<Value> value;
    std::size_t bytes;
  };
  struct Shard {
    /// Rises with every change of the keys that share it.
    std::uint64_t& epoch_of(const std::string& key) {
      return epochs[std::hash<std::string>()(key) / kShards % epochs.size()];
    }

    std::mutex mutex;
    std::array<std::uint64_t, 256> epochs{};
    std::size_t bytes = 0;
    std::list<Node> order;  // most recently used first
    std::unordered_map<std::string_view, typename std::list<Node>::iterator>
        index;
  };

  /// Few, so that a big value with its tree fits into one share.
  static constexpr std::size_t kShards = 4;

  Shard& shard_of(const std::string& key) {
    return shards_[std::hash<std::string>()(key) % kShards];
  }

  static void remove(Shard& shard, const std::string& key) {
    const auto it = shard.index.find(key);
    if (it == shard.index.end()) return;
    const auto node = it->second;
    shard.index.erase(it);
    shard.bytes -= node->bytes;
    shard.order.erase(node);
  }

  void put(Shard& shard, const std::string& key, std::shared_ptr<Value> value,
           std::size_t bytes) {
    remove(shard, key);
    if (bytes > capacity_) return;
    shard.order.push_front({key, std::move(value), bytes});
    shard.index.emplace(shard.order.front().key, shard.order.begin());
    shard.bytes += bytes;
    while (shard.bytes > capacity_) {
      const auto& last = shard.order.back();
      shard.bytes -= last.bytes;
      shard.index.erase(last.key);
      shard.order.pop_back();
    }
  }

  const std::size_t capacity_;
  std::array<Shard, kShards> shards_;
};

}  // namespace satchel::storage
