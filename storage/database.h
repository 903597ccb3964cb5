#pragma once
// RocksDB behind typed records: opening a folder, consistent views,
// transactions, and the few facts kept about the store as a whole. Names no
// RocksDB type. Everything throws Failure.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/format.h"

namespace satchel::storage {

struct FileSystemHandle;  // file_system.h

/// How far a commit has got when it returns; see satchel::Durability.
enum class Sync : std::uint8_t { always = 1, interval = 2, never = 3 };

struct DatabaseOptions {
  Sync sync = Sync::always;
  bool read_only = false;
  std::chrono::milliseconds lock_wait{0};
  /// What a new store is made with, and what an old one must have been made
  /// with; empty: "user", or any.
  std::string identity;
  /// Wall time in microseconds, to date a new store.
  std::uint64_t now = 0;
  /// Where files are; null: the operating system's.
  std::shared_ptr<FileSystemHandle> file_system;

  std::function<void(const std::string& message)> on_background_error;
  std::function<void(std::uint64_t bytes)> on_bytes_dropped;
  std::function<void(std::uint64_t bytes)> on_gap;
  std::function<void(std::uint64_t in, std::uint64_t out)> on_compaction;
};

/// One consistent state of the store. Owned by one thread; releases its
/// snapshot when destroyed, which must come before the Database's end.
/// Beside it the expiry filters may remove what is at or before the cutoff.
class View {
 public:
  ~View();
  View(View&&) noexcept;

  std::optional<Head> head(std::string_view user,
                           std::string_view handle) const;
  std::optional<RequestRecord> request(std::string_view user,
                                       std::string_view id) const;
  /// `scope` is what scope_prefix() made, here and below.
  std::optional<KvRecord> kv(std::string_view scope,
                             std::string_view key) const;
  /// The text of a base; none when it is not there.
  std::optional<std::string> base(const BaseKey& key) const;

  /// Calls `visit` for each record with `from` <= version <= `to`, in order.
  void log(
      std::uint64_t hid, std::uint64_t from, std::uint64_t to,
      const std::function<void(std::uint64_t version, LogRecord)>& visit) const;
  /// Calls `visit` for each base with version >= `from`, in order.
  void bases(std::uint64_t hid, std::uint64_t from,
             const std::function<void(const BaseKey&, std::size_t text_bytes)>&
                 visit) const;
  /// All heads of `user`, tombstones too, in the order of handles.
  void heads(std::string_view user,
             const std::function<void(std::string handle, Head)>& visit) const;
  /// All heads at or after the position (`user`, `handle`) until `visit`
  /// returns false.
  void all_heads(std::string_view user, std::string_view handle,
                 const std::function<bool(std::string user, std::string handle,
                                          Head)>& visit) const;
  /// All entries of the scope, in the order of keys.
  void scope(
      const std::string& scope,
      const std::function<void(std::string_view key, std::uint64_t deadline,
                               std::size_t value_bytes)>& visit) const;
  /// The deadlines of all request ids of `user`.
  void requests(std::string_view user,
                const std::function<void(std::uint64_t deadline)>& visit) const;

 private:
  friend class Database;
  struct Impl;
  explicit View(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A set of writes that takes effect as a whole or not at all. Commits only if
/// no key that it locked changed since. Owned by one thread. Keys of base and
/// log are put once in the life of a store and dropped at most once.
class Transaction {
 public:
  ~Transaction();
  Transaction(Transaction&&) noexcept;

  /// Tracks the key. Must come before anything is concluded from its value.
  void lock_head(std::string_view user, std::string_view handle);
  /// Tracks the key and reads it.
  std::optional<RequestRecord> lock_request(std::string_view user,
                                            std::string_view id);

  void put_head(std::string_view user, std::string_view handle,
                const Head& head);
  void drop_head(std::string_view user, std::string_view handle);
  void put_request(std::string_view user, std::string_view id,
                   const RequestRecord& record);
  void put_kv(std::string_view scope, std::string_view key,
              std::uint64_t deadline, std::string_view value);
  void drop_kv(std::string_view scope, std::string_view key);
  void put_base(const BaseKey& key, std::string_view text);
  void drop_base(const BaseKey& key);
  void put_log(std::uint64_t hid, std::uint64_t version,
               const LogRecord& record);
  void drop_log(std::uint64_t hid, std::uint64_t version);

  /// True: done, as durable as the Sync of the store says. False: a locked key
  /// changed; nothing was done. Any other failure throws and makes the store
  /// read-only, since the log's end is unknown then.
  [[nodiscard]] bool commit();

 private:
  friend class Database;
  struct Impl;
  explicit Transaction(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Thread-safe.
class Database {
 public:
  /// Opens the store in folder `path`, creating it when it is missing or empty
  /// and the options allow; an empty path is a store in memory. Null when
  /// read-only and there is nothing yet. Refusals change no byte.
  static std::unique_ptr<Database> open(const std::string& path,
                                        DatabaseOptions options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  View view() const;
  /// One entry as it is now, without the cost of a view.
  std::optional<KvRecord> kv(std::string_view scope,
                             std::string_view key) const;
  /// The same entry's deadline; its value is verified, not copied.
  std::optional<std::uint64_t> deadline_of(std::string_view scope,
                                           std::string_view key) const;
  /// Throws Failure::Kind::read_only when the store takes no writes.
  Transaction begin();

  /// A new incarnation number, never given before.
  std::uint64_t allocate_hid();

  /// Everything with a gc or deadline at or before it is dead.
  std::uint64_t cutoff() const;
  /// Raises the cutoff durably, then publishes it. A lower value does nothing.
  void raise_cutoff(std::uint64_t cutoff);

  std::uint64_t last_seen() const;
  /// Remembers the last time that was seen; durable with the next sync.
  void set_last_seen(std::uint64_t time);

  /// 32 random bytes of this store, for authenticating cursors.
  const std::string& secret() const;

  /// Makes everything committed durable.
  void sync();

  /// Merges the small files that short runs leave behind, so that a thousand
  /// runs leave no more of them than one.
  void merge_small_files();
  /// Ends compact_dead() soon, for good.
  void stop_compacting();
  /// Rewrites files that hold mostly dead records, and key-value records that
  /// have been dead for a day; takes dead key-value records out of the log.
  /// Cheap when there is nothing to do.
  void compact_dead();
  /// Flushes and rewrites everything; afterwards nothing dead is in any file.
  void compact_all();
  void flush();

  struct Impl;  // database_impl.h

 private:
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace satchel::storage
