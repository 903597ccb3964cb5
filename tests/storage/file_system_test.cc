#include "storage/file_system.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <sys/stat.h>

#include "tests/storage/raw_database.h"

namespace satchel::storage::test {
namespace {

namespace fs = std::filesystem;

unsigned mode(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

/// RocksDB working through a private file system, with this umask.
void work(const std::string& path, mode_t mask) {
  const auto old_mask = ::umask(mask);
  auto env = rocksdb::NewCompositeEnv(
      private_file_system(rocksdb::FileSystem::Default()));
  rocksdb::Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.keep_log_file_num = 2;
  rocksdb::DB* db = nullptr;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(rocksdb::DB::Open(options, path, &db).ok());
    ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "key", "value").ok());
    ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_TRUE(
        db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr)
            .ok());
    delete db;
  }
  ::umask(old_mask);
}

TEST(PrivateFileSystem, EverythingThatRocksDbMakesIsPrivate) {
  for (const mode_t mask : {0, 022, 077}) {
    Scratch scratch;
    const auto path = scratch / "db";
    work(path, mask);
    EXPECT_EQ(mode(path), 0700U);
    int files = 0;
    for (const auto& entry : fs::directory_iterator(path)) {
      EXPECT_EQ(mode(entry.path()), 0600U) << entry.path();
      ++files;
    }
    EXPECT_GE(files,
              7);  // CURRENT, IDENTITY, LOCK, LOG, MANIFEST, OPTIONS, a log
  }
}

TEST(PrivateFileSystem, EachWayToMakeAFileIsCovered) {
  Scratch scratch;
  const auto old_mask = ::umask(0);
  const auto fs = private_file_system(rocksdb::FileSystem::Default());
  const rocksdb::FileOptions options;
  std::unique_ptr<rocksdb::FSWritableFile> file;
  std::unique_ptr<rocksdb::FSRandomRWFile> random;
  std::shared_ptr<rocksdb::Logger> logger;
  EXPECT_TRUE(
      fs->NewWritableFile(scratch / "new", options, &file, nullptr).ok());
  EXPECT_TRUE(
      fs->ReopenWritableFile(scratch / "reopened", options, &file, nullptr)
          .ok());
  write_file(scratch / "old", "");
  EXPECT_TRUE(fs->ReuseWritableFile(scratch / "reused", scratch / "old",
                                    options, &file, nullptr)
                  .ok());
  write_file(scratch / "random", "");
  EXPECT_TRUE(
      fs->NewRandomRWFile(scratch / "random", options, &random, nullptr).ok());
  EXPECT_TRUE(
      fs->NewLogger(scratch / "logger", options.io_options, &logger, nullptr)
          .ok());
  for (const char* folder : {"folder", "folder/below"}) {
    EXPECT_TRUE(
        fs->CreateDir(scratch / folder, options.io_options, nullptr).ok());
    EXPECT_EQ(mode(scratch / folder), 0700U);
  }
  ::umask(old_mask);
  for (const char* name : {"new", "reopened", "reused", "random", "logger"}) {
    EXPECT_EQ(mode(scratch / name), 0600U) << name;
  }
}

TEST(PrivateFileSystem, FoldersThatExistKeepTheirMode) {
  Scratch scratch;
  fs::permissions(scratch.path(), fs::perms(0755));
  const auto fs = private_file_system(rocksdb::FileSystem::Default());
  EXPECT_TRUE(
      fs->CreateDirIfMissing(scratch.path(), rocksdb::IOOptions(), nullptr)
          .ok());
  EXPECT_EQ(mode(scratch.path()), 0755U);
}

TEST(PrivateFileSystem, MemoryHasNoModes) {
  const std::unique_ptr<rocksdb::Env> memory(
      rocksdb::NewMemEnv(rocksdb::Env::Default()));
  const auto fs =
      private_file_system(memory->GetFileSystem(), Backing::in_memory);
  std::unique_ptr<rocksdb::FSWritableFile> file;
  EXPECT_TRUE(fs->CreateDir("/m", rocksdb::IOOptions(), nullptr).ok());
  EXPECT_TRUE(
      fs->NewWritableFile("/m/f", rocksdb::FileOptions(), &file, nullptr).ok());
}

}  // namespace
}  // namespace satchel::storage::test
