#include "tests/support/fault_file_system.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <set>

#include "tests/storage/raw_database.h"

namespace satchel::storage::test {
namespace {

using satchel::test::FaultFileSystem;

/// RocksDB over a file system that fails.
class Faults : public testing::Test {
 protected:
  rocksdb::Status open() {
    rocksdb::Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.info_log_level = rocksdb::FATAL_LEVEL;
    rocksdb::DB* db = nullptr;
    const auto status = rocksdb::DB::Open(options, folder_, &db);
    db_.reset(db);
    return status;
  }
  rocksdb::Status put(const std::string& key, bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    return db_->Put(options, key, std::string(100, 'v'));
  }
  bool has(const std::string& key) {
    std::string value;
    return db_->Get(rocksdb::ReadOptions(), key, &value).ok();
  }

  Scratch scratch_;
  const std::string folder_ = scratch_ / "db";
  const std::shared_ptr<FaultFileSystem> faulty_ =
      std::make_shared<FaultFileSystem>();
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(faulty_);
  std::unique_ptr<rocksdb::DB> db_;
};

TEST_F(Faults, SyncedStaysAndUnsyncedGoes) {
  ASSERT_TRUE(open().ok());
  ASSERT_TRUE(put("synced", true).ok());
  ASSERT_TRUE(put("unsynced", false).ok());
  db_.reset();
  EXPECT_GT(faulty_->drop_unsynced(FaultFileSystem::Drop::all, 1), 100U);
  ASSERT_TRUE(open().ok());
  EXPECT_TRUE(has("synced"));
  EXPECT_FALSE(has("unsynced"));
}

TEST_F(Faults, RandomDropsDifferBySeedAndKeepWhatIsSynced) {
  std::set<std::uint64_t> lost;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(open().ok());
    ASSERT_TRUE(put("synced", true).ok());
    for (int i = 0; i < 20; ++i) put("unsynced" + std::to_string(i), false);
    db_.reset();
    lost.insert(faulty_->drop_unsynced(FaultFileSystem::Drop::random, seed));
    ASSERT_TRUE(open().ok());
    EXPECT_TRUE(has("synced")) << seed;
    db_.reset();
  }
  EXPECT_GT(lost.size(), 5U);
}

TEST_F(Faults, UnsyncedNamesAreUndone) {
  const rocksdb::FileOptions options;
  const rocksdb::IOOptions io;
  std::unique_ptr<rocksdb::FSDirectory> folder;
  write_file(scratch_ / "target", "old");
  ASSERT_TRUE(
      rocksdb::WriteStringToFile(faulty_.get(), "new", scratch_ / "temp", true)
          .ok());
  ASSERT_TRUE(
      faulty_->NewDirectory(scratch_.path(), io, &folder, nullptr).ok());
  ASSERT_TRUE(folder->Fsync(io, nullptr).ok());
  ASSERT_TRUE(
      rocksdb::WriteStringToFile(faulty_.get(), "x", scratch_ / "late", true)
          .ok());
  ASSERT_TRUE(
      faulty_->RenameFile(scratch_ / "temp", scratch_ / "target", io, nullptr)
          .ok());
  EXPECT_EQ(faulty_->drop_unsynced(FaultFileSystem::Drop::all, 1), 2U);
  EXPECT_EQ(read_file(scratch_ / "target"), "old");
  EXPECT_EQ(read_file(scratch_ / "temp"), "new");
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "late"));
}

TEST_F(Faults, EveryOperationCanFail) {
  std::uint64_t points = 0;
  for (bool struck = true; struck; ++points) {
    std::filesystem::remove_all(folder_);
    faulty_->fail_at(points + 1, FaultFileSystem::Fault::io_error,
                     FaultFileSystem::Extent::from_now_on);
    const bool written = open().ok() && put("key", true).ok();
    db_.reset();
    struck = faulty_->struck();
    EXPECT_TRUE(struck || written);
    faulty_->heal();
    ASSERT_TRUE(open().ok()) << points;
    EXPECT_TRUE(has("key") || !written) << points;
    db_.reset();
  }
  EXPECT_GT(points, 20U);
}

TEST_F(Faults, OnceMeansOnce) {
  ASSERT_TRUE(open().ok());
  faulty_->fail_at(1, FaultFileSystem::Fault::no_space,
                   FaultFileSystem::Extent::once);
  EXPECT_TRUE(put("key", true).IsNoSpace());
  EXPECT_TRUE(faulty_->struck());
  db_.reset();
  ASSERT_TRUE(open().ok());
  EXPECT_FALSE(has("key"));
  EXPECT_TRUE(put("key", true).ok());
}

}  // namespace
}  // namespace satchel::storage::test
