// Key-value entries on disk: what expires leaves it, what is alive stays, what
// is damaged is told and never taken for absent.

#include <rocksdb/db.h>

#include "api/embedded/open.h"
#include "storage/format.h"
#include "tests/storage/raw_database.h"
#include "tests/support/fixture.h"

namespace satchel::test {
namespace {

using storage::test::Scratch;

/// The kv family of a closed store, written to and read as RocksDB does.
class RawKv {
 public:
  explicit RawKv(const std::string& folder) {
    rocksdb::Options options;
    options.info_log_level = rocksdb::FATAL_LEVEL;
    std::vector<std::string> names;
    check(rocksdb::DB::ListColumnFamilies(options, folder, &names));
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const auto& name : names)
      families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    check(rocksdb::DB::Open(options, folder, families, &families_, &db_));
    for (auto* family : families_)
      if (family->GetName() == "kv") kv_ = family;
    if (kv_ == nullptr) throw std::runtime_error("no kv family");
  }
  ~RawKv() {
    for (auto* family : families_) delete family;
    delete db_;
  }
  RawKv(const RawKv&) = delete;
  RawKv& operator=(const RawKv&) = delete;

  std::string get(const std::string& key) {
    std::string value;
    const auto status = db_->Get({}, kv_, key, &value);
    return status.IsNotFound() ? "" : (check(status), value);
  }
  void put(const std::string& key, const std::string& value) {
    check(db_->Put({}, kv_, key, value));
  }
  std::size_t count() {
    std::size_t records = 0;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, kv_));
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++records;
    return records;
  }

 private:
  static void check(const rocksdb::Status& status) {
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  rocksdb::ColumnFamilyHandle* kv_ = nullptr;
  rocksdb::DB* db_ = nullptr;
};

class KvDiskTest : public testing::Test {
 protected:
  KvDiskTest() { open(); }

  void open() {
    Options options;
    options.clock = clock;
    options.sweeper = false;
    options.durability = Durability::os;
    store = embedded::open(folder.path(), options).value();
  }
  void reopen() {
    store.reset();
    open();
  }
  std::unique_ptr<KvScope> kv() { return store->scope(kUser, kApp).value(); }
  void put(const std::string& key, const KvValue& value, Ttl ttl = 1h) {
    kv()->set(key, value, {.ttl = ttl}).value();
  }
  storage::Database& db() { return store->database(); }
  void sweep_and_compact() {
    store->sweep_all();
    db().compact_all();
  }
  static std::string disk_key(const std::string& key) {
    return storage::scope_prefix(kUser, kApp) + key;
  }
  /// Changes one byte of the record of `key`, under every checksum of RocksDB.
  void damage(const std::string& key, std::size_t at) {
    store.reset();
    {
      RawKv raw(folder.path());
      auto record = raw.get(disk_key(key));
      record.at(at) = static_cast<char>(record.at(at) ^ 0x20);
      raw.put(disk_key(key), record);
    }
    open();
  }
  std::string record_on_disk(const std::string& key) {
    store.reset();
    const auto record = RawKv(folder.path()).get(disk_key(key));
    open();
    return record;
  }
  /// Whether any file of the store holds `text`.
  bool on_disk(const std::string& text) {
    for (const auto& file :
         std::filesystem::directory_iterator(folder.path())) {
      if (storage::test::read_file(file.path()).find(text) != text.npos)
        return true;
    }
    return false;
  }
  void expect_corrupt(const auto& result) {
    expect_kv_error(result, ErrorCode::store_corrupt, "");
  }

  Scratch folder;
  std::shared_ptr<TestClock> clock = std::make_shared<TestClock>();
  std::unique_ptr<embedded::EmbeddedStore> store;
};

TEST_F(KvDiskTest, BytesOfExpiredEntriesLeaveEveryFile) {
  put("e9QvXk2LwBz7", "v7KyEaN2tDqV", 1h);
  put("L6mGpZu3FoAa", "live-N0bWxRi5", 10h);
  put("r4TnYc8HsJd1", "removed-F2yVj", 10h);
  put("renewed", "D9tMlSgi8CzU", 1h);
  db().flush();
  for (const auto* text :
       {"e9QvXk2LwBz7", "v7KyEaN2tDqV", "L6mGpZu3FoAa", "live-N0bWxRi5",
        "r4TnYc8HsJd1", "removed-F2yVj", "D9tMlSgi8CzU"})
    ASSERT_TRUE(on_disk(text)) << text;
  put("renewed", "A1bCnEw0Value", 10h);
  EXPECT_TRUE(kv()->remove("r4TnYc8HsJd1").value());
  clock->advance(2h);
  // Invisible before any sweep.
  EXPECT_EQ(kv()->keys().value().keys.size(), 2u);
  sweep_and_compact();
  for (const auto* text : {"v7KyEaN2tDqV", "removed-F2yVj", "D9tMlSgi8CzU"})
    EXPECT_FALSE(on_disk(text)) << text;
  // Keys at the border of a file are also in RocksDB's MANIFEST, which every
  // open writes anew.
  reopen();
  for (const auto* text : {"e9QvXk2LwBz7", "r4TnYc8HsJd1"})
    EXPECT_FALSE(on_disk(text)) << text;
  for (const auto* text : {"L6mGpZu3FoAa", "live-N0bWxRi5", "A1bCnEw0Value"})
    EXPECT_TRUE(on_disk(text)) << text;
  EXPECT_TRUE(kv()->has("L6mGpZu3FoAa").value());
  EXPECT_TRUE(kv()->has("renewed").value());
  store.reset();
  EXPECT_EQ(RawKv(folder.path()).count(), 2u);
  open();
}

// The values of a store at rest stayed in its log for good.
TEST_F(KvDiskTest, ExpiredEntriesThatWereNeverFlushedLeaveTheLog) {
  put("e9QvXk2LwBz7", "v7KyEaN2tDqV", 1h);
  put("L6mGpZu3FoAa", "live-N0bWxRi5", days(80));
  ASSERT_TRUE(on_disk("v7KyEaN2tDqV"));
  clock->advance(2h);
  store->sweep_all();
  clock->advance(days(2));
  store->sweep_all();
  EXPECT_FALSE(on_disk("v7KyEaN2tDqV"));
  EXPECT_TRUE(on_disk("live-N0bWxRi5"));
  reopen();
  EXPECT_TRUE(kv()->has("L6mGpZu3FoAa").value());
}

TEST_F(KvDiskTest, SweepsTakeTheDeadOutOfFilesThatAreMostlyAlive) {
  put("dead", "v7KyEaN2tDqV", 1h);
  for (int i = 0; i < 50; ++i) put("k" + std::to_string(i), i, days(80));
  db().flush();
  clock->advance(days(2));
  store->sweep_all();
  EXPECT_FALSE(on_disk("v7KyEaN2tDqV"));
  EXPECT_EQ(kv()->usage().value().key_count, 50u);
}

TEST_F(KvDiskTest, WhatTheCutoffHasNotPassedStays) {
  put("k", "kept-Q7w2", 1h);
  clock->advance(1h + 5min);  // expired, within the grace
  sweep_and_compact();
  EXPECT_FALSE(kv()->has("k").value());
  EXPECT_TRUE(on_disk("kept-Q7w2"));
  clock->step(-10min);
  EXPECT_TRUE(kv()->has("k").value());
  clock->step(10min);
  clock->advance(5min);
  sweep_and_compact();
  EXPECT_FALSE(on_disk("kept-Q7w2"));
}

TEST_F(KvDiskTest, TheEndOfANewEntryDoesNotBringBackTheOldOne) {
  put("k", "old", days(80));
  db().compact_all();  // the long-lived one lies at the bottom
  put("k", "new", 1h);
  db().flush();
  put("other", 1, days(80));
  db().flush();
  clock->advance(2h);
  // Closing merges the two new files, and them alone.
  db().raise_cutoff(
      static_cast<std::uint64_t>(clock->now().time_since_epoch().count()));
  for (int i = 0; i < 4; ++i) {
    reopen();
    EXPECT_FALSE(kv()->has("k").value());
    EXPECT_FALSE(kv()->get("k").value().has_value());
    EXPECT_EQ(kv()->usage().value().key_count, 1u);
    if (i == 1) store->sweep_all();
    if (i == 2) db().compact_all();
  }
  EXPECT_EQ(kv()->increment("k", {.ttl = 1h}).value(), 1);
}

TEST_F(KvDiskTest, ARemovalDoesNotBringBackAnOlderOne) {
  for (int i = 0; i < 3; ++i) {
    put("k", i, days(80));
    db().flush();
  }
  EXPECT_TRUE(kv()->remove("k").value());
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(kv()->has("k").value());
    EXPECT_EQ(kv()->usage().value().key_count, 0u);
    i == 0 ? reopen() : db().compact_all();
  }
}

TEST_F(KvDiskTest, ADamagedRecordIsToldAndNeverTakenForAbsent) {
  put("good", 1);
  put("k", "value");
  const auto size = record_on_disk("k").size();
  ASSERT_EQ(size, 8u + 8u + 1u + 7u);
  // Checksum, deadline, codec and text; format_test.cc takes every byte.
  for (const std::size_t at : {0, 7, 8, 15, 16, 17, 23}) {
    SCOPED_TRACE(at);
    damage("k", at);
    expect_corrupt(kv()->get("k"));
    expect_corrupt(kv()->has("k"));
    expect_corrupt(kv()->mget({"good", "k"}));
    expect_corrupt(kv()->usage());
    expect_corrupt(kv()->keys());
    expect_corrupt(kv()->increment("k", {.ttl = 1h}));
    expect_corrupt(kv()->set("k", 1, {.ttl = 1h, .if_absent = true}));
    expect_corrupt(kv()->set("new", 1, {.ttl = 1h}));
    expect_corrupt(kv()->remove_prefix(""));
    EXPECT_EQ(kv()->get("good").value()->value.text(), "1");
    // A scope that cannot be counted takes nothing; others are served.
    const auto other = store->scope("bob", kApp).value();
    EXPECT_TRUE(other->set("k", 1, {.ttl = 1h}).ok());
    damage("k", at);  // the same bit again: sound
    EXPECT_EQ(kv()->get("k").value()->value.text(), R"("value")");
  }
}

TEST_F(KvDiskTest, TheFilterKeepsWhatItCannotVerify) {
  put("k", "value", 1h);
  put("gone", "gone", 1h);
  record_on_disk("k");
  damage("k", 20);  // in the text
  const auto damaged = record_on_disk("k");
  clock->advance(days(2));
  sweep_and_compact();
  EXPECT_EQ(record_on_disk("k"), damaged);
  EXPECT_EQ(record_on_disk("gone"), "");
  expect_corrupt(kv()->get("k"));
}

}  // namespace
}  // namespace satchel::test
