#pragma once
// What the parts of Database share. For storage/ only: names RocksDB types.

#include <rocksdb/db.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/wal_filter.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.h"
#include "storage/expiry_filter.h"
#include "storage/lock.h"

namespace satchel::storage {

inline rocksdb::Slice slice(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view view_of(const rocksdb::Slice& s) {
  return {s.data(), s.size()};
}

/// Names of the meta records.
namespace meta {
inline constexpr std::string_view kCreated = "created";
inline constexpr std::string_view kCutoff = "cutoff";
inline constexpr std::string_view kNextHid = "next_hid";
inline constexpr std::string_view kLastSeen = "last_seen";
inline constexpr std::string_view kSecret = "cursor_secret";
inline constexpr std::string_view kDurability = "durability";
inline constexpr std::string_view kIdentity = "identity";
inline constexpr std::string_view kSync = "sync";
}  // namespace meta

/// The column families, in the order of Families::handles; RocksDB demands
/// "default", which stays empty.
struct Families {
  static constexpr std::array<Family, 6> kAll = {Family::meta, Family::head,
                                                 Family::base, Family::log,
                                                 Family::kv,   Family::request};
  static const char* name(Family family);

  rocksdb::ColumnFamilyHandle* operator[](Family family) const;

  /// As DB::Open returns them: "default", then kAll.
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
};

struct Database::Impl {
  ~Impl();

  std::optional<std::string> read_meta(std::string_view name) const;
  void write_meta(std::string_view name, std::string_view value, bool sync);
  /// Throws when the store takes no writes.
  void require_writable() const;
  /// After a failed write: no further ones until the store is opened again.
  [[noreturn]] void fail(const rocksdb::Status& status, const char* operation);

  DatabaseOptions options;
  /// Held from before RocksDB opens until after it closed.
  std::optional<FolderLock> lock;
  std::unique_ptr<rocksdb::Env> env;
  /// Set when the log had to be cut; RocksDB keeps a pointer to it.
  std::unique_ptr<rocksdb::WalFilter> wal_filter;
  std::shared_ptr<Cutoff> cutoff = std::make_shared<Cutoff>(0);
  std::unique_ptr<rocksdb::DB> db;
  /// `db` as what it is, when open for writing.
  rocksdb::OptimisticTransactionDB* writer = nullptr;
  Families families;
  std::string secret;
  std::atomic<std::uint64_t> last_seen = 0;
  std::atomic<bool> failed = false;
  /// Something was written that no sync has followed yet.
  std::atomic<bool> unsynced = false;

  /// The first deadline of a key-value record that may be in no table yet.
  std::atomic<std::uint64_t> first_unflushed_kv = kNever;

  /// Tells manual compactions to end.
  std::atomic<bool> stopping = false;

  std::mutex hid_mutex;
  std::uint64_t next_hid = 0;
  std::uint64_t hid_end = 0;
  std::mutex cutoff_mutex;
};

/// Options of the database and of each family; `impl` owns what they point to.
rocksdb::DBOptions database_options(Database::Impl& impl,
                                    std::shared_ptr<rocksdb::Logger> log);
std::vector<rocksdb::ColumnFamilyDescriptor> family_descriptors(
    Database::Impl& impl);

}  // namespace satchel::storage
