// Opening a folder: who may have it, whether its log is whole, and then
// RocksDB with our families and options.

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>
#include <rocksdb/wal_filter.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "storage/database_impl.h"
#include "storage/failure.h"
#include "storage/file_system.h"
#include "storage/folder.h"
#include "storage/info_log.h"
#include "storage/status.h"
#include "storage/table_deadlines.h"
#include "storage/wal_scan.h"

namespace satchel::storage {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::string_view kDefaultIdentity = "user";

/// Hands RocksDB's background events on.
class EventForwarder final : public rocksdb::EventListener {
 public:
  explicit EventForwarder(const DatabaseOptions& options)
      : on_error_(options.on_background_error),
        on_compaction_(options.on_compaction) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason,
                         rocksdb::Status* status) override {
    if (!on_error_) return;
    try {
      check(*status, "write in the background");
    } catch (const Failure& failure) {
      on_error_(failure.what());
    }
  }

  void OnCompactionCompleted(rocksdb::DB*,
                             const rocksdb::CompactionJobInfo& job) override {
    if (on_compaction_ && job.status.ok()) {
      on_compaction_(job.stats.total_input_bytes, job.stats.total_output_bytes);
    }
  }

 private:
  const std::function<void(const std::string&)> on_error_;
  const std::function<void(std::uint64_t, std::uint64_t)> on_compaction_;
};

/// Ends the replay of the log after a sequence number. Point-in-time recovery
/// alone would go on when whole files lost whole records.
class StopAfter final : public rocksdb::WalFilter {
 public:
  explicit StopAfter(std::uint64_t last) : last_(last) {}
  const char* Name() const override { return "satchel.stop_after"; }
  WalProcessingOption LogRecordFound(unsigned long long, const std::string&,
                                     const rocksdb::WriteBatch& batch,
                                     rocksdb::WriteBatch*, bool*) override {
    std::uint64_t sequence = 0;  // little-endian, first in the batch
    std::memcpy(&sequence, batch.Data().data(), sizeof sequence);
    return sequence > last_ ? WalProcessingOption::kStopReplay
                            : WalProcessingOption::kContinueProcessing;
  }

 private:
  const std::uint64_t last_;
};

std::string random_bytes(std::size_t n) {
  std::string bytes(n, '\0');
  if (getrandom(bytes.data(), n, 0) != static_cast<ssize_t>(n)) {
    throw Failure(Failure::Kind::io, "the system gives no random bytes");
  }
  return bytes;
}

[[noreturn]] void corrupt(const std::string& what) {
  throw Failure(Failure::Kind::corrupt,
                "the store is damaged: " + what +
                    "; restore a backup, and keep the folder as it is");
}

/// Opens for writing what `impl` describes; creates what is missing.
void open_writer(Database::Impl& impl, const std::string& path,
                 std::shared_ptr<rocksdb::Logger> log) {
  auto options = database_options(impl, std::move(log));
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.wal_filter = impl.wal_filter.get();
  rocksdb::OptimisticTransactionDBOptions occ;
  occ.validate_policy = rocksdb::OccValidationPolicy::kValidateParallel;
  occ.occ_lock_buckets = 1 << 14;
  check(rocksdb::OptimisticTransactionDB::Open(
            options, occ, path, family_descriptors(impl),
            &impl.families.handles, &impl.writer),
        "open the store");
  impl.db.reset(impl.writer);
}

void open_reader(Database::Impl& impl, const std::string& path) {
  auto options = database_options(impl, make_null_log());
  options.wal_filter = impl.wal_filter.get();
  rocksdb::DB* db = nullptr;
  check(rocksdb::DB::OpenForReadOnly(options, path, family_descriptors(impl),
                                     &impl.families.handles, &db),
        "open the store");
  impl.db.reset(db);
}

/// What the store ran with when the record before the gap was written.
bool ran_unsynced(const DatabaseOptions& options, rocksdb::Env* env,
                  const std::string& path, std::uint64_t last_sequence) {
  Database::Impl probe;
  probe.options = options;
  probe.env = rocksdb::NewCompositeEnv(env->GetFileSystem());
  probe.wal_filter = std::make_unique<StopAfter>(last_sequence);
  open_reader(probe, path);
  const auto mode = probe.read_meta(meta::kDurability);
  return mode && decode_u64(*mode) != static_cast<std::uint64_t>(Sync::always);
}

void load_meta(Database::Impl& impl) {
  const auto number = [&](std::string_view name) {
    const auto value = impl.read_meta(name);
    return value ? decode_u64(*value) : 0;
  };
  if (!impl.read_meta(meta::kCreated)) corrupt("its own records are missing");
  impl.cutoff->store(number(meta::kCutoff));
  impl.last_seen = number(meta::kLastSeen);
  impl.next_hid = impl.hid_end = number(meta::kNextHid);
  impl.secret = impl.read_meta(meta::kSecret).value_or("");
  if (impl.secret.size() != 32) corrupt("its secret is missing");
  const auto& wanted = impl.options.identity;
  const auto made_with =
      impl.read_meta(meta::kIdentity).value_or(std::string(kDefaultIdentity));
  if (!wanted.empty() && wanted != made_with) {
    throw Failure(Failure::Kind::other_identity,
                  "this store was made for identity \"" + made_with +
                      "\" and cannot be used with \"" + wanted +
                      "\"; use what it was made for, or another store");
  }
}

bool is_empty(const Database::Impl& impl, Family family) {
  const std::unique_ptr<rocksdb::Iterator> it(
      impl.db->NewIterator({}, impl.families[family]));
  it->SeekToFirst();
  check(it->status(), "read");
  return !it->Valid();
}

/// Whether the creation ended before its first write.
bool is_unused(const Database::Impl& impl) {
  return std::all_of(Families::kAll.begin(), Families::kAll.end(),
                     [&](Family family) { return is_empty(impl, family); });
}

/// The facts of a store that was just created; all or nothing.
void write_first_meta(Database::Impl& impl) {
  rocksdb::WriteBatch batch;
  const auto put = [&](std::string_view name, const std::string& value) {
    check(batch.Put(impl.families[Family::meta], slice(name),
                    encode_meta(name, value)),
          "write");
  };
  put(meta::kCreated, encode_u64(impl.options.now));
  put(meta::kSecret, random_bytes(32));
  const auto& identity = impl.options.identity;
  if (!identity.empty() && identity != kDefaultIdentity) {
    put(meta::kIdentity, identity);
  }
  put(meta::kDurability,
      encode_u64(static_cast<std::uint64_t>(impl.options.sync)));
  rocksdb::WriteOptions write;
  write.sync = true;
  check(impl.db->Write(write, &batch), "create the store");
}

/// What the scan of the log found, and where the replay must stop.
struct LogEnd {
  /// False: the creation was cut short; there is nothing to read.
  bool created = true;
  /// Records were lost that had never been promised: replay up to this one.
  std::optional<std::uint64_t> stop_after;
  std::uint64_t dropped_bytes = 0;

  std::unique_ptr<rocksdb::WalFilter> filter() const {
    return stop_after ? std::make_unique<StopAfter>(*stop_after) : nullptr;
  }

  void tell(const DatabaseOptions& options) const {
    if (stop_after) {
      if (options.on_gap) options.on_gap(dropped_bytes);
    } else if (dropped_bytes > 0 && options.on_bytes_dropped) {
      options.on_bytes_dropped(dropped_bytes);
    }
  }
};

/// A MANIFEST that lost its end names fewer families than there are, and
/// RocksDB would take the files of the others for garbage. False: nothing was
/// ever stored, since the creation was cut short.
bool families_are_there(const std::string& path, rocksdb::Env* env,
                        const WalReport& log) {
  rocksdb::DBOptions options;
  options.env = env;
  std::vector<std::string> names;
  check(rocksdb::DB::ListColumnFamilies(options, path, &names),
        "open the store");
  if (names.size() > Families::kAll.size()) return true;
  std::vector<std::string> files;
  check(env->GetChildren(path, &files), "open the store");
  const bool tables =
      std::any_of(files.begin(), files.end(),
                  [](const auto& file) { return file.ends_with(".sst"); });
  if (tables || log.records > 0) corrupt("its MANIFEST is not whole");
  return false;
}

/// Before RocksDB sees the folder: is every acknowledged record in the log?
LogEnd examine_log(const DatabaseOptions& options, rocksdb::Env* env,
                   const std::string& path) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto report = scan_wals(*env->GetFileSystem(), path);
    if (report.vanished) continue;  // a writer beside; look again
    if (report.wal_files == 0 && !report.fresh) corrupt("its log is missing");
    const bool created = families_are_there(path, env, report);
    if (!report.gap) return {created, std::nullopt, report.dropped_bytes};
    if (!ran_unsynced(options, env, path, report.last_sequence)) {
      corrupt("its log has a bad part with good records after it");
    }
    return {created, report.last_sequence, report.dropped_bytes};
  }
  throw Failure(Failure::Kind::io,
                "the store's log changes too fast to be read; try again");
}

/// The new log's name must survive a power loss: a store without a log is
/// taken for damaged.
void sync_folder(rocksdb::FileSystem& fs, const std::string& path) {
  std::unique_ptr<rocksdb::FSDirectory> folder;
  check(fs.NewDirectory(path, {}, &folder, nullptr), "open the store");
  check(folder->Fsync({}, nullptr), "open the store");
}

std::unique_ptr<Database::Impl> open_for_reading(const std::string& path,
                                                 DatabaseOptions options) {
  // A writer beside may delete a file between its listing and its opening.
  for (int attempt = 0;; ++attempt) {
    try {
      const auto info = look_at_folder(path);
      if (info.state != FolderState::complete) return nullptr;
      auto impl = std::make_unique<Database::Impl>();
      impl->options = options;
      impl->env = rocksdb::NewCompositeEnv(options.file_system->fs);
      const auto end = examine_log(options, impl->env.get(), path);
      if (!end.created) return nullptr;
      impl->wal_filter = end.filter();
      open_reader(*impl, path);
      if (is_unused(*impl)) return nullptr;
      load_meta(*impl);
      end.tell(options);
      return impl;
    } catch (const Failure&) {
      if (attempt == 5) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(attempt));
    }
  }
}

std::unique_ptr<Database::Impl> open_for_writing(const std::string& path,
                                                 DatabaseOptions options) {
  auto info = look_at_folder(path);
  if (info.state == FolderState::missing || info.state == FolderState::empty) {
    create_folder(path, *options.file_system);
  }
  auto impl = std::make_unique<Database::Impl>();
  impl->lock = FolderLock::acquire(path, options.lock_wait);
  info = look_at_folder(path);
  impl->options = std::move(options);
  impl->env = rocksdb::NewCompositeEnv(impl->options.file_system->fs);
  LogEnd end;
  if (info.state == FolderState::complete) {
    end = examine_log(impl->options, impl->env.get(), path);
  }
  if (info.state == FolderState::interrupted) {
    // One that names no MANIFEST would stop RocksDB.
    impl->env->DeleteFile(path + "/CURRENT").PermitUncheckedError();
  }
  impl->wal_filter = end.filter();
  open_writer(*impl, path, make_info_log(path));
  // Only now: a refusal changes nothing.
  impl->lock->announce(path);
  tighten_permissions(path);
  remove_leftovers(path, *impl->options.file_system);
  sync_folder(*impl->env->GetFileSystem(), path);
  end.tell(impl->options);
  return impl;
}

std::unique_ptr<Database::Impl> open_in_memory(DatabaseOptions options) {
  auto impl = std::make_unique<Database::Impl>();
  impl->options = std::move(options);
  const std::unique_ptr<rocksdb::Env> memory(
      rocksdb::NewMemEnv(rocksdb::Env::Default()));
  impl->env = rocksdb::NewCompositeEnv(memory->GetFileSystem());
  open_writer(*impl, "/satchel", make_null_log());
  return impl;
}

/// Everything about a writer that is open but for the first time of all.
void make_ready(Database::Impl& impl) {
  if (is_unused(impl)) write_first_meta(impl);
  load_meta(impl);
  const auto mode = encode_u64(static_cast<std::uint64_t>(impl.options.sync));
  if (impl.read_meta(meta::kDurability) != mode) {
    // Before any write that may be lost: it tells the next open that a gap in
    // the log is no damage.
    impl.write_meta(meta::kDurability, mode, true);
  }
}

}  // namespace

const char* Families::name(Family family) {
  switch (family) {
    case Family::meta:
      return "meta";
    case Family::head:
      return "head";
    case Family::base:
      return "base";
    case Family::log:
      return "log";
    case Family::kv:
      return "kv";
    case Family::request:
      return "request";
  }
  return "";
}

rocksdb::ColumnFamilyHandle* Families::operator[](Family family) const {
  for (std::size_t i = 0; i < kAll.size(); ++i) {
    if (kAll[i] == family) return handles[i + 1];
  }
  return nullptr;
}

rocksdb::DBOptions database_options(Database::Impl& impl,
                                    std::shared_ptr<rocksdb::Logger> log) {
  rocksdb::DBOptions options;
  options.env = impl.env.get();
  options.info_log = std::move(log);
  options.max_background_jobs = 2;
  // The default starts 15 threads for each family at each open, files or not.
  options.max_file_opening_threads = 1;
  // The scan has decided what is torn and what is damage; the tolerant mode
  // would refuse some torn tails.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.track_and_verify_wals_in_manifest = true;
  options.max_total_wal_size = 32 * kMiB;
  options.listeners = {std::make_shared<EventForwarder>(impl.options)};
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> family_descriptors(
    Database::Impl& impl) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(32 * kMiB);
  table.cache_index_and_filter_blocks = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  const std::shared_ptr<rocksdb::TableFactory> tables(
      rocksdb::NewBlockBasedTableFactory(table));

  std::vector<rocksdb::ColumnFamilyDescriptor> all;
  all.emplace_back(rocksdb::kDefaultColumnFamilyName,
                   rocksdb::ColumnFamilyOptions());
  for (const auto family : Families::kAll) {
    rocksdb::ColumnFamilyOptions options;
    options.table_factory = tables;
    options.compression = rocksdb::kLZ4Compression;
    // Validation of tracked keys looks into flushed memtables; for the others
    // 1 byte keeps none (0 would mean 128 MiB).
    options.max_write_buffer_size_to_maintain = 1;
    switch (family) {
      case Family::head:
        options.write_buffer_size = 16 * kMiB;
        options.max_write_buffer_size_to_maintain = 32 * kMiB;
        break;
      case Family::request:
        options.write_buffer_size = 16 * kMiB;
        options.max_write_buffer_size_to_maintain = 16 * kMiB;
        break;
      case Family::kv:
        options.write_buffer_size = 16 * kMiB;
        break;
      case Family::base:
      case Family::log:
        options.write_buffer_size = 32 * kMiB;
        break;
      case Family::meta:
        options.write_buffer_size = kMiB;
        break;
    }
    options.compaction_filter_factory = expiry_filter(family, impl.cutoff);
    options.table_properties_collector_factories = {
        deadline_collector(family, impl.cutoff)};
    all.emplace_back(Families::name(family), options);
  }
  return all;
}

std::unique_ptr<Database> Database::open(const std::string& path,
                                         DatabaseOptions options) {
  const bool in_memory = path.empty();
  const auto base = options.file_system != nullptr
                        ? options.file_system->fs
                        : rocksdb::FileSystem::Default();
  options.file_system = std::make_shared<FileSystemHandle>(
      FileSystemHandle{private_file_system(base)});
  if (options.read_only) {
    auto impl =
        in_memory ? nullptr : open_for_reading(path, std::move(options));
    return impl ? std::unique_ptr<Database>(new Database(std::move(impl)))
                : nullptr;
  }
  auto impl = in_memory ? open_in_memory(std::move(options))
                        : open_for_writing(path, std::move(options));
  make_ready(*impl);
  return std::unique_ptr<Database>(new Database(std::move(impl)));
}

}  // namespace satchel::storage
