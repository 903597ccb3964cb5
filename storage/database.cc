#include "storage/database.h"

#include <algorithm>
#include <utility>

#include "storage/database_impl.h"
#include "storage/failure.h"
#include "storage/status.h"

namespace satchel::storage {
namespace {

constexpr std::uint64_t kHidBlock = 1024;

/// Iterates over [from, to) of one family at one snapshot.
class Range {
 public:
  Range(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
        const rocksdb::Snapshot* snapshot, std::string from, std::string to)
      : to_(std::move(to)), upper_(to_) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    if (!to_.empty()) options.iterate_upper_bound = &upper_;
    it_.reset(db->NewIterator(options, family));
    it_->Seek(from);
  }

  bool next(std::string_view* key, std::string_view* value) {
    if (started_) it_->Next();
    started_ = true;
    if (!it_->Valid()) {
      check(it_->status(), "read");
      return false;
    }
    *key = view_of(it_->key());
    *value = view_of(it_->value());
    return true;
  }

 private:
  const std::string to_;
  const rocksdb::Slice upper_;
  std::unique_ptr<rocksdb::Iterator> it_;
  bool started_ = false;
};

}  // namespace

// ---- Impl

Database::Impl::~Impl() {
  if (db == nullptr) return;
  for (auto* handle : families.handles) db->DestroyColumnFamilyHandle(handle);
  db->Close().PermitUncheckedError();
}

std::optional<std::string> Database::Impl::read_meta(
    std::string_view name) const {
  std::string value;
  const auto status = db->Get({}, families[Family::meta], slice(name), &value);
  if (status.IsNotFound()) return std::nullopt;
  check(status, "read");
  return std::string(decode_meta(name, value));
}

void Database::Impl::write_meta(std::string_view name, std::string_view value,
                                bool sync) {
  require_writable();
  rocksdb::WriteOptions write;
  write.sync = sync;
  const auto status = db->Put(write, families[Family::meta], slice(name),
                              encode_meta(name, value));
  if (!status.ok()) fail(status, "write");
  if (!sync) unsynced = true;
}

void Database::Impl::require_writable() const {
  if (writer == nullptr) {
    throw Failure(Failure::Kind::read_only,
                  "the store was opened read-only; open it for writing");
  }
  if (failed) {
    throw Failure(Failure::Kind::read_only,
                  "an earlier write failed, so the store takes no writes; "
                  "mend the cause (often a full disk) and open it again");
  }
}

void Database::Impl::fail(const rocksdb::Status& status,
                          const char* operation) {
  failed = true;
  if (status.IsNoSpace()) raise(status, operation);
  // Whatever RocksDB calls it, the end of the log is unknown now.
  throw Failure(Failure::Kind::io,
                std::string("could not ") + operation +
                    ": the disk or the file system refused it; whether this "
                    "write was kept shows when the store is opened again");
}

// ---- View

struct View::Impl {
  ~Impl() { db->ReleaseSnapshot(snapshot); }

  /// The value under `key`; false when there is none.
  bool get(Family family, std::string_view key,
           rocksdb::PinnableSlice* value) const {
    rocksdb::ReadOptions read;
    read.snapshot = snapshot;
    const auto status = db->Get(read, (*families)[family], slice(key), value);
    if (status.IsNotFound()) return false;
    check(status, "read");
    return true;
  }

  Range range(Family family, std::string from, std::string to) const {
    return {db, (*families)[family], snapshot, std::move(from), std::move(to)};
  }

  rocksdb::DB* db;
  const Families* families;
  const rocksdb::Snapshot* snapshot;
};

View::View(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
View::View(View&&) noexcept = default;
View::~View() = default;

std::optional<Head> View::head(std::string_view user,
                               std::string_view handle) const {
  const auto key = user_key(user, handle);
  rocksdb::PinnableSlice value;
  if (!impl_->get(Family::head, key, &value)) return std::nullopt;
  return decode_head(key, view_of(value));
}

std::optional<RequestRecord> View::request(std::string_view user,
                                           std::string_view id) const {
  const auto key = user_key(user, id);
  rocksdb::PinnableSlice value;
  if (!impl_->get(Family::request, key, &value)) return std::nullopt;
  return decode_request(key, view_of(value));
}

std::optional<KvRecord> View::kv(std::string_view scope,
                                 std::string_view name) const {
  const auto key = std::string(scope).append(name);
  rocksdb::PinnableSlice value;
  if (!impl_->get(Family::kv, key, &value)) return std::nullopt;
  return decode_kv(key, view_of(value));
}

std::optional<std::string> View::base(const BaseKey& id) const {
  const auto key = base_key(id.hid, id.version, id.gc);
  rocksdb::PinnableSlice value;
  if (!impl_->get(Family::base, key, &value)) return std::nullopt;
  return std::string(decode_base(key, view_of(value)));
}

void View::log(
    std::uint64_t hid, std::uint64_t from, std::uint64_t to,
    const std::function<void(std::uint64_t, LogRecord)>& visit) const {
  if (from > to) return;
  auto range =
      impl_->range(Family::log, log_key(hid, from), log_key(hid, to) + '\0');
  std::string_view key;
  std::string_view value;
  while (range.next(&key, &value)) {
    std::uint64_t owner;
    std::uint64_t version;
    if (!decode_log_key(key, &owner, &version)) {
      throw Failure(Failure::Kind::corrupt, "a log key does not decode");
    }
    visit(version, decode_log(key, value));
  }
}

void View::bases(
    std::uint64_t hid, std::uint64_t from,
    const std::function<void(const BaseKey&, std::size_t)>& visit) const {
  auto range = impl_->range(Family::base, base_key(hid, from, 0),
                            prefix_end(encode_u64(hid)));
  std::string_view key;
  std::string_view value;
  while (range.next(&key, &value)) {
    BaseKey id;
    if (!decode_base_key(key, &id)) {
      throw Failure(Failure::Kind::corrupt, "a base key does not decode");
    }
    visit(id, decode_base(key, value).size());
  }
}

void View::heads(std::string_view user,
                 const std::function<void(std::string, Head)>& visit) const {
  const auto prefix = user_prefix(user);
  auto range = impl_->range(Family::head, prefix, prefix_end(prefix));
  std::string_view key;
  std::string_view value;
  while (range.next(&key, &value)) {
    visit(std::string(key.substr(prefix.size())), decode_head(key, value));
  }
}

void View::all_heads(
    std::string_view from_user, std::string_view from_handle,
    const std::function<bool(std::string, std::string, Head)>& visit) const {
  auto range = impl_->range(Family::head, user_key(from_user, from_handle), "");
  std::string_view key;
  std::string_view value;
  std::string user;
  std::string handle;
  while (range.next(&key, &value)) {
    if (!split_user_key(key, &user, &handle)) {
      throw Failure(Failure::Kind::corrupt, "a head key does not decode");
    }
    if (!visit(user, handle, decode_head(key, value))) return;
  }
}

void View::scope(const std::string& prefix,
                 const std::function<void(std::string_view, std::uint64_t,
                                          std::size_t)>& visit) const {
  auto range = impl_->range(Family::kv, prefix, prefix_end(prefix));
  std::string_view key;
  std::string_view value;
  while (range.next(&key, &value)) {
    std::uint64_t deadline;
    const auto text = peek_kv(key, value, &deadline);
    visit(key.substr(prefix.size()), deadline, text.size());
  }
}

void View::requests(std::string_view user,
                    const std::function<void(std::uint64_t)>& visit) const {
  const auto prefix = user_prefix(user);
  auto range = impl_->range(Family::request, prefix, prefix_end(prefix));
  std::string_view key;
  std::string_view value;
  while (range.next(&key, &value)) visit(decode_request(key, value).deadline);
}

// ---- Transaction

struct Transaction::Impl {
  void put(Family family, std::string_view key, const std::string& value) {
    check(txn->PutUntracked(db->families[family], slice(key), value), "write");
  }

  Database::Impl* db;
  std::unique_ptr<rocksdb::Transaction> txn;
  std::uint64_t first_kv_deadline = kNever;
};

Transaction::Transaction(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

void Transaction::lock_head(std::string_view user, std::string_view handle) {
  check(impl_->txn->GetForUpdate({}, impl_->db->families[Family::head],
                                 user_key(user, handle),
                                 static_cast<std::string*>(nullptr)),
        "read");
}

std::optional<RequestRecord> Transaction::lock_request(std::string_view user,
                                                       std::string_view id) {
  const auto key = user_key(user, id);
  std::string value;
  const auto status = impl_->txn->GetForUpdate(
      {}, impl_->db->families[Family::request], key, &value);
  if (status.IsNotFound()) return std::nullopt;
  check(status, "read");
  return decode_request(key, value);
}

void Transaction::put_head(std::string_view user, std::string_view handle,
                           const Head& head) {
  const auto key = user_key(user, handle);
  check(impl_->txn->Put(impl_->db->families[Family::head], key,
                        encode(key, head)),
        "write");
}

void Transaction::drop_head(std::string_view user, std::string_view handle) {
  check(impl_->txn->DeleteUntracked(impl_->db->families[Family::head],
                                    user_key(user, handle)),
        "write");
}

void Transaction::put_request(std::string_view user, std::string_view id,
                              const RequestRecord& record) {
  const auto key = user_key(user, id);
  check(impl_->txn->Put(impl_->db->families[Family::request], key,
                        encode(key, record)),
        "write");
}

void Transaction::put_kv(std::string_view scope, std::string_view name,
                         std::uint64_t deadline, std::string_view value) {
  const auto key = std::string(scope).append(name);
  impl_->put(Family::kv, key, encode_kv(key, deadline, value));
  impl_->first_kv_deadline = std::min(impl_->first_kv_deadline, deadline);
}

void Transaction::drop_kv(std::string_view scope, std::string_view name) {
  check(impl_->txn->DeleteUntracked(impl_->db->families[Family::kv],
                                    std::string(scope).append(name)),
        "write");
}

void Transaction::put_base(const BaseKey& id, std::string_view text) {
  const auto key = base_key(id.hid, id.version, id.gc);
  impl_->put(Family::base, key, encode_base(key, text));
}

void Transaction::drop_base(const BaseKey& id) {
  check(impl_->txn->SingleDeleteUntracked(
            impl_->db->families[Family::base],
            slice(base_key(id.hid, id.version, id.gc))),
        "write");
}

void Transaction::put_log(std::uint64_t hid, std::uint64_t version,
                          const LogRecord& record) {
  const auto key = log_key(hid, version);
  impl_->put(Family::log, key, encode(key, record));
}

void Transaction::drop_log(std::uint64_t hid, std::uint64_t version) {
  check(impl_->txn->SingleDeleteUntracked(impl_->db->families[Family::log],
                                          slice(log_key(hid, version))),
        "write");
}

bool Transaction::commit() {
  auto* db = impl_->db;
  db->require_writable();
  const auto status = impl_->txn->Commit();
  if (status.IsBusy() || status.IsTryAgain()) return false;
  if (!status.ok()) db->fail(status, "write");
  auto& first = db->first_unflushed_kv;
  for (auto seen = first.load(); impl_->first_kv_deadline < seen;) {
    if (first.compare_exchange_weak(seen, impl_->first_kv_deadline)) break;
  }
  db->unsynced = db->options.sync != Sync::always;
  return true;
}

// ---- Database

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

View Database::view() const {
  auto view = std::unique_ptr<View::Impl>(new View::Impl{
      impl_->db.get(), &impl_->families, impl_->db->GetSnapshot()});
  return View(std::move(view));
}

namespace {

/// The newest value under `key` of the kv family; false when there is none.
bool get_kv(const Database::Impl& db, std::string_view key,
            rocksdb::PinnableSlice* value) {
  const auto status =
      db.db->Get({}, db.families[Family::kv], slice(key), value);
  if (status.IsNotFound()) return false;
  check(status, "read");
  return true;
}

}  // namespace

std::optional<KvRecord> Database::kv(std::string_view scope,
                                     std::string_view name) const {
  const auto key = std::string(scope).append(name);
  rocksdb::PinnableSlice value;
  if (!get_kv(*impl_, key, &value)) return std::nullopt;
  return decode_kv(key, view_of(value));
}

std::optional<std::uint64_t> Database::deadline_of(
    std::string_view scope, std::string_view name) const {
  const auto key = std::string(scope).append(name);
  rocksdb::PinnableSlice value;
  if (!get_kv(*impl_, key, &value)) return std::nullopt;
  std::uint64_t deadline;
  peek_kv(key, view_of(value), &deadline);
  return deadline;
}

Transaction Database::begin() {
  impl_->require_writable();
  rocksdb::WriteOptions write;
  write.sync = impl_->options.sync == Sync::always;
  auto txn = std::unique_ptr<rocksdb::Transaction>(
      impl_->writer->BeginTransaction(write));
  txn->DisableIndexing();
  return Transaction(std::unique_ptr<Transaction::Impl>(
      new Transaction::Impl{impl_.get(), std::move(txn), kNever}));
}

std::uint64_t Database::allocate_hid() {
  const std::lock_guard lock(impl_->hid_mutex);
  if (impl_->next_hid == impl_->hid_end) {
    const auto end = impl_->hid_end + kHidBlock;
    impl_->write_meta(meta::kNextHid, encode_u64(end), true);
    impl_->hid_end = end;
  }
  return impl_->next_hid++;
}

std::uint64_t Database::cutoff() const { return impl_->cutoff->load(); }

void Database::raise_cutoff(std::uint64_t cutoff) {
  const std::lock_guard lock(impl_->cutoff_mutex);
  if (cutoff <= impl_->cutoff->load()) return;
  impl_->write_meta(meta::kCutoff, encode_u64(cutoff), true);
  impl_->cutoff->store(cutoff);
}

std::uint64_t Database::last_seen() const { return impl_->last_seen; }

void Database::set_last_seen(std::uint64_t time) {
  impl_->write_meta(meta::kLastSeen, encode_u64(time), false);
  impl_->last_seen = time;
}

const std::string& Database::secret() const { return impl_->secret; }

void Database::sync() {
  if (impl_->writer == nullptr || impl_->failed) return;
  if (!impl_->unsynced.exchange(false)) return;
  // A synced write takes the whole log before it along. Not SyncWAL: with WAL
  // tracking, 7.8 may then refuse the next open (rocksdb#10892).
  impl_->write_meta(meta::kSync, "1", true);
}

void Database::flush() {
  rocksdb::FlushOptions options;
  check(impl_->db->Flush(options, impl_->families.handles), "flush");
}

}  // namespace satchel::storage
