#include "storage/info_log.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <sys/stat.h>

#include "tests/storage/raw_database.h"

namespace satchel::storage::test {
namespace {

namespace fs = std::filesystem;

class InfoLog : public testing::Test {
 protected:
  Scratch scratch_;
  const std::string log_ = scratch_ / "LOG";
};

TEST_F(InfoLog, IsMadeWithTheFirstWarning) {
  const auto log = make_info_log(scratch_.path());
  rocksdb::Header(log, "options of %s", "this and that");
  rocksdb::Info(log, "nothing of note");
  EXPECT_FALSE(fs::exists(log_));
  const auto old_mask = ::umask(0);
  rocksdb::Warn(log, "table %d is odd", 7);
  ::umask(old_mask);
  rocksdb::Error(log, "disk says no");
  const auto text = read_file(log_);
  EXPECT_NE(text.find("table 7 is odd\n"), std::string::npos);
  EXPECT_NE(text.find("disk says no\n"), std::string::npos);
  EXPECT_EQ(text.find("options of"), std::string::npos);
  EXPECT_EQ(fs::status(log_).permissions(), fs::perms(0600));
}

TEST_F(InfoLog, StaysBelowItsCap) {
  const auto log = make_info_log(scratch_.path(), 1000);
  for (int i = 0; i < 100; ++i) rocksdb::Warn(log, "message %d", i);
  EXPECT_LE(fs::file_size(log_), 1000U);
  EXPECT_LE(fs::file_size(log_ + ".old"), 1000U);
  EXPECT_NE(read_file(log_).find("message 99\n"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch_.path()), {}), 2);
}

TEST_F(InfoLog, GoesOnWhereTheLastOpenEnded) {
  rocksdb::Warn(make_info_log(scratch_.path()), "one");
  rocksdb::Warn(make_info_log(scratch_.path()), "two");
  const auto text = read_file(log_);
  EXPECT_LT(text.find("one\n"), text.find("two\n"));
  EXPECT_NE(text.find("two\n"), std::string::npos);
}

TEST_F(InfoLog, KeysAreBlanked) {
  const auto log = make_info_log(scratch_.path());
  rocksdb::Error(log, "largest key: %s, table 000123 of %s",
                 "616C69636500016E6F74655F61626364", "0123abcd");
  const auto text = read_file(log_);
  EXPECT_NE(text.find("largest key: *, table 000123 of 0123abcd\n"),
            std::string::npos);
}

TEST_F(InfoLog, RocksDbAtWorkWritesNoKey) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.info_log = make_info_log(scratch_.path());
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, scratch_ / "db", &db).ok());
  ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "secretkey", "v").ok());
  ASSERT_TRUE(
      db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  rocksdb::Warn(options.info_log, "end");
  delete db;
  const auto text = read_file(log_);
  EXPECT_NE(text.find("end\n"), std::string::npos);
  EXPECT_EQ(text.find("secretkey"), std::string::npos);
  EXPECT_EQ(text.find("7365637265746B6579"), std::string::npos);
  EXPECT_FALSE(fs::exists(scratch_ / "db/LOG"));
}

TEST_F(InfoLog, FolderThatIsGoneDoesNoHarm) {
  const auto log = make_info_log(scratch_ / "missing");
  rocksdb::Warn(log, "lost");
  EXPECT_FALSE(fs::exists(scratch_ / "missing"));
}

TEST_F(InfoLog, NullLogWritesNothing) {
  const auto log = make_null_log();
  rocksdb::Error(log, "lost");
  EXPECT_TRUE(fs::is_empty(scratch_.path()));
}

}  // namespace
}  // namespace satchel::storage::test
