#include "raw_store.h"

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <stdexcept>
#include <vector>

namespace satchel::bench {
namespace {

// Sizes of what storage/FORMAT.md describes, for a short user name.
constexpr std::size_t kHeadKey = 24;
constexpr std::size_t kHeadValue = 115;
constexpr std::size_t kLogValue = 35;
constexpr std::size_t kBaseOverhead = 9;
constexpr std::size_t kKvOverhead = 17;
const std::string kScope("user\0\1bench\0\1", 13);
constexpr std::uint64_t kHistory = 32;

void require(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::string big_endian(std::uint64_t n) {
  std::string bytes(8, '\0');
  for (int i = 7; i >= 0; --i, n >>= 8) {
    bytes[static_cast<std::size_t>(i)] = static_cast<char>(n);
  }
  return bytes;
}

/// Bytes that a compressor sees as it sees JSON text.
std::string filler(std::size_t size, std::uint64_t seed) {
  std::string text;
  text.reserve(size + 32);
  while (text.size() < size) {
    text += "{\"item\":" + std::to_string(seed++ * 2654435761u) + "},";
  }
  text.resize(size);
  return text;
}

std::string head_key(std::uint64_t hid) {
  auto key = "user" + big_endian(hid);
  key.resize(kHeadKey, 'k');
  return key;
}

std::string base_key(std::uint64_t hid, std::uint64_t version) {
  return big_endian(hid) + big_endian(version) + std::string(8, '\xff');
}

}  // namespace

struct RawStore::Impl {
  rocksdb::ColumnFamilyHandle* head() { return families[1]; }
  rocksdb::ColumnFamilyHandle* base() { return families[2]; }
  rocksdb::ColumnFamilyHandle* log() { return families[3]; }
  rocksdb::ColumnFamilyHandle* kv() { return families[4]; }

  void put_head(rocksdb::WriteBatch& batch, std::uint64_t hid,
                std::uint64_t version) {
    require(batch.Put(head(), head_key(hid), filler(kHeadValue, version)));
  }
  void put_log(rocksdb::WriteBatch& batch, std::uint64_t hid,
               std::uint64_t version, std::size_t ops) {
    require(batch.Put(log(), big_endian(hid) + big_endian(version),
                      filler(kLogValue + ops, version)));
  }
  void put_base(rocksdb::WriteBatch& batch, std::uint64_t hid,
                std::uint64_t version, std::size_t bytes) {
    require(batch.Put(base(), base_key(hid, version),
                      filler(kBaseOverhead + bytes, hid + version)));
  }
  void write(rocksdb::WriteBatch& batch) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    require(db->Write(options, &batch));
  }

  bool sync = false;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
};

RawStore::RawStore(const std::string& folder, bool sync)
    : impl_(std::make_unique<Impl>()) {
  impl_->sync = sync;
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.max_background_jobs = 2;
  options.max_total_wal_size = std::uint64_t{64} << 20;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.compression = rocksdb::kLZ4Compression;
  family.write_buffer_size = std::size_t{32} << 20;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const auto* name : {"default", "head", "base", "log", "kv"}) {
    descriptors.emplace_back(name, family);
  }
  rocksdb::DB* db = nullptr;
  require(
      rocksdb::DB::Open(options, folder, descriptors, &impl_->families, &db));
  impl_->db.reset(db);
}

RawStore::~RawStore() {
  for (auto* family : impl_->families) {
    impl_->db->DestroyColumnFamilyHandle(family);
  }
}

void RawStore::save(std::uint64_t hid, std::uint64_t version,
                    std::size_t state_bytes) {
  rocksdb::WriteBatch batch;
  impl_->put_log(batch, hid, version, 0);
  impl_->put_base(batch, hid, version, state_bytes);
  if (version > kHistory) {
    const auto old = version - kHistory;
    require(batch.SingleDelete(impl_->base(), base_key(hid, old)));
    require(
        batch.SingleDelete(impl_->log(), big_endian(hid) + big_endian(old)));
  }
  impl_->put_head(batch, hid, version);
  impl_->write(batch);
}

void RawStore::patch(std::uint64_t hid, std::uint64_t version,
                     std::size_t ops_bytes) {
  rocksdb::WriteBatch batch;
  impl_->put_log(batch, hid, version, ops_bytes);
  impl_->put_head(batch, hid, version);
  impl_->write(batch);
}

void RawStore::mint(std::uint64_t hid, std::size_t state_bytes) {
  rocksdb::WriteBatch batch;
  impl_->put_log(batch, hid, 1, 0);
  impl_->put_base(batch, hid, 1, state_bytes);
  impl_->put_head(batch, hid, 1);
  impl_->write(batch);
}

std::size_t RawStore::get(std::uint64_t hid, std::uint64_t version) {
  rocksdb::PinnableSlice head;
  rocksdb::PinnableSlice base;
  require(impl_->db->Get({}, impl_->head(), head_key(hid), &head));
  require(impl_->db->Get({}, impl_->base(), base_key(hid, version), &base));
  return head.size() + base.size();
}

void RawStore::put_kv(const std::string& key, std::size_t value_bytes) {
  rocksdb::WriteBatch batch;
  require(batch.Put(impl_->kv(), kScope + key,
                    filler(kKvOverhead + value_bytes, key.size())));
  impl_->write(batch);
}

void RawStore::delete_kv(const std::string& key) {
  rocksdb::WriteBatch batch;
  require(batch.Delete(impl_->kv(), kScope + key));
  impl_->write(batch);
}

std::size_t RawStore::get_kv(const std::string& key) {
  rocksdb::PinnableSlice value;
  require(impl_->db->Get({}, impl_->kv(), kScope + key, &value));
  return value.size();
}

std::size_t RawStore::scan_kv(const std::string& prefix, std::size_t limit) {
  auto end = kScope + prefix;
  ++end.back();
  const rocksdb::Slice upper = end;
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(
      impl_->db->NewIterator(options, impl_->kv()));
  std::size_t seen = 0;
  for (it->Seek(kScope + prefix); it->Valid() && seen < limit; it->Next()) {
    ++seen;
  }
  require(it->status());
  return seen;
}

}  // namespace satchel::bench
