#include "storage/wal_scan.h"

#include <gtest/gtest.h>
#include <rocksdb/file_checksum.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "storage/crc32c.h"
#include "storage/failure.h"
#include "tests/storage/raw_database.h"

namespace satchel::storage::test {
namespace {

constexpr std::uint64_t kBlock = 32 * 1024, kHeader = 7;

WalReport scan(const std::string& folder) {
  return scan_wals(*rocksdb::FileSystem::Default(), folder);
}

std::vector<int> first_keys(std::uint64_t n) {
  std::vector<int> keys(n);
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}

/// One log of records, and where each ends.
class WalScan : public testing::Test {
 protected:
  void make(const std::vector<std::size_t>& value_sizes) {
    RawDatabase database(scratch_ / "live");
    int key = 0;
    for (const auto size : value_sizes) {
      ends_.push_back(database.put(key++, size));
    }
    copy_as_killed(scratch_ / "live", folder_);
    wal_ = logs(folder_).back();
    bytes_ = read_file(wal_);
    ASSERT_EQ(bytes_.size(), ends_.back());
  }
  /// Where the record's first header is.
  std::uint64_t start(std::size_t record) const {
    const auto end = record == 0 ? 0 : ends_[record - 1];
    const auto left = kBlock - end % kBlock;
    return left < kHeader ? end + left : end;
  }
  /// The record that the byte belongs to.
  std::size_t record_of(std::uint64_t offset) const {
    return static_cast<std::size_t>(
        std::upper_bound(ends_.begin(), ends_.end(), offset) - ends_.begin());
  }
  /// Filling at the end of a block, which nobody reads.
  bool is_padding(std::uint64_t offset) const {
    return offset < start(record_of(offset));
  }
  /// Flips bits of one byte, scans, and puts the byte back.
  WalReport flipped(std::uint64_t offset, char mask) {
    std::fstream file(wal_, std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(offset);
    file.seekp(at).put(static_cast<char>(bytes_[offset] ^ mask)).flush();
    const auto report = scan(folder_);
    file.seekp(at).put(bytes_[offset]).flush();
    EXPECT_TRUE(file.good());
    return report;
  }
  void expect_flip_is_seen(std::uint64_t offset, char mask) {
    const auto report = flipped(offset, mask);
    const auto record = record_of(offset);
    SCOPED_TRACE("byte " + std::to_string(offset) + " of record " +
                 std::to_string(record));
    if (is_padding(offset)) {
      EXPECT_FALSE(report.gap);
      EXPECT_EQ(report.records, ends_.size());
      return;
    }
    EXPECT_EQ(report.records, record);
    EXPECT_EQ(report.last_sequence, record);
    EXPECT_EQ(report.dropped_bytes, bytes_.size() - start(record));
    ASSERT_EQ(report.gap.has_value(), record + 1 < ends_.size());
    if (!report.gap) return;
    EXPECT_EQ(report.gap->reason, WalGap::Reason::bad_bytes);
    EXPECT_EQ(report.gap->offset, start(record));
    // Nothing tells with which number the log begins.
    EXPECT_EQ(report.gap->expected_sequence, record == 0 ? 0 : record + 1);
    EXPECT_GT(report.gap->found_sequence, record + 1);
  }
  /// What RocksDB makes of the folder when it may open it.
  std::vector<int> recovered() {
    copy_as_killed(folder_, scratch_ / "opened");
    return RawDatabase(scratch_ / "opened").keys();
  }

  Scratch scratch_;
  const std::string folder_ = scratch_ / "killed";
  std::string wal_;
  std::string bytes_;
  std::vector<std::uint64_t> ends_;
};

TEST_F(WalScan, WholeLogIsGood) {
  make({10, 200, 0, 3000});
  const auto report = scan(folder_);
  EXPECT_EQ(report.wal_files, 1U);
  EXPECT_EQ(report.records, 4U);
  EXPECT_EQ(report.last_sequence, 4U);
  EXPECT_EQ(report.bytes, bytes_.size());
  EXPECT_EQ(report.dropped_bytes, 0U);
  EXPECT_FALSE(report.gap);
  EXPECT_FALSE(report.fresh);
}

// RocksDB alone lost every later record without a word when a length byte of
// the last block was flipped.
TEST_F(WalScan, EveryFlippedByteIsSeen) {
  make(std::vector<std::size_t>(20, 90));
  std::uint64_t points = 0;
  for (std::uint64_t at = 0; at < bytes_.size(); ++at) {
    for (const char mask : {'\x01', '\xff'}) {
      expect_flip_is_seen(at, mask);
      ++points;
    }
  }
  EXPECT_EQ(points, 2 * ends_.back());
  EXPECT_GT(points, 4000U);
}

TEST_F(WalScan, FlippedBytesAreSeenAcrossBlocks) {
  // A record that ends 3 bytes before its block does, so that padding follows;
  // then some of several blocks, the last one too.
  make({100});
  const auto overhead = ends_[0] - 100;
  ends_.clear();
  std::filesystem::remove_all(scratch_ / "live");
  make({kBlock - 3 - overhead - 2, 300, 90'000, 500, 40'000});
  std::uint64_t points = 0, padding = 0;
  for (std::uint64_t at = 0; at < bytes_.size(); at += 61) {
    expect_flip_is_seen(at, '\x04');
    ++points;
  }
  for (std::uint64_t block = kBlock; block < bytes_.size(); block += kBlock) {
    for (std::uint64_t at = block - 12; at < block + 12; ++at) {
      expect_flip_is_seen(at, '\x40');
      padding += is_padding(at) ? 1 : 0;
      ++points;
    }
  }
  EXPECT_GT(points, 2'500U);
  EXPECT_EQ(padding, 3U);
}

TEST_F(WalScan, CutAtEveryOffsetIsATornTail) {
  make(std::vector<std::size_t>(20, 90));
  std::uint64_t points = 0, opened = 0;
  for (auto size = bytes_.size() + 1; size-- > 0; ++points) {
    SCOPED_TRACE("cut at " + std::to_string(size));
    std::filesystem::resize_file(wal_, size);
    const auto report = scan(folder_);
    const auto whole = record_of(size);
    EXPECT_FALSE(report.gap);
    EXPECT_EQ(report.records, whole);
    EXPECT_EQ(report.dropped_bytes, size - start(whole));
    if (size % 97 == 0) {
      EXPECT_EQ(recovered(), first_keys(whole));
      ++opened;
    }
  }
  EXPECT_EQ(points, bytes_.size() + 1);
  EXPECT_GT(opened, 20U);
}

TEST_F(WalScan, DamagedLastRecordOpensWithoutIt) {
  make({90, 90, 40'000});
  std::uint64_t points = 0;
  for (auto at = start(2); at < ends_[2]; at += 4001, ++points) {
    auto damaged = bytes_;
    damaged[at] ^= 32;
    write_file(wal_, damaged);
    const auto report = scan(folder_);
    EXPECT_FALSE(report.gap);
    EXPECT_EQ(report.dropped_bytes, ends_[2] - start(2));
    EXPECT_EQ(recovered(), first_keys(2));
  }
  EXPECT_EQ(points, 11U);
}

TEST_F(WalScan, ZerosAtTheEndAreACleanEnd) {
  make(std::vector<std::size_t>(5, 90));
  for (const std::size_t zeros : {1U, 6U, 7U, 4096U, 100'000U}) {
    write_file(wal_, bytes_ + std::string(zeros, '\0'));
    const auto report = scan(folder_);
    EXPECT_FALSE(report.gap);
    EXPECT_EQ(report.records, 5U);
    EXPECT_EQ(report.dropped_bytes, 0U);
    EXPECT_EQ(report.zero_bytes, zeros);
    EXPECT_EQ(recovered(), first_keys(5));
  }
}

TEST_F(WalScan, ZeroedRecordsBeforeGoodOnesAreAGap) {
  make(std::vector<std::size_t>(900, 90));
  ASSERT_GT(bytes_.size(), 2 * kBlock);
  auto damaged = bytes_;
  const auto record = record_of(kBlock / 2);
  // Up to the end of the block, where RocksDB looks no further.
  std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(start(record)),
            damaged.begin() + kBlock, '\0');
  write_file(wal_, damaged);
  const auto report = scan(folder_);
  ASSERT_TRUE(report.gap);
  EXPECT_EQ(report.records, record);
  EXPECT_EQ(report.gap->offset, start(record));
}

TEST_F(WalScan, NoiseBehindTheEndIsATornTail) {
  make(std::vector<std::size_t>(5, 90));
  std::mt19937 random(7);
  std::string noise(3'000'000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  write_file(wal_, bytes_ + noise);
  const auto report = scan(folder_);
  EXPECT_FALSE(report.gap);
  EXPECT_EQ(report.records, 5U);
  EXPECT_EQ(report.dropped_bytes, noise.size());
}

TEST_F(WalScan, RemovedRecordIsAJump) {
  make(std::vector<std::size_t>(9, 90));
  write_file(wal_, bytes_.substr(0, start(4)) + bytes_.substr(start(5)));
  const auto report = scan(folder_);
  ASSERT_TRUE(report.gap);
  EXPECT_EQ(report.gap->reason, WalGap::Reason::jump);
  EXPECT_EQ(report.gap->expected_sequence, 5U);
  EXPECT_EQ(report.gap->found_sequence, 6U);
  EXPECT_EQ(report.gap->offset, start(4));
}

TEST_F(WalScan, RepeatedRecordGoesBackwards) {
  make(std::vector<std::size_t>(9, 90));
  write_file(wal_, bytes_.substr(0, start(5)) + bytes_.substr(start(4)));
  const auto report = scan(folder_);
  ASSERT_TRUE(report.gap);
  EXPECT_EQ(report.gap->reason, WalGap::Reason::backwards);
  EXPECT_EQ(report.records, 5U);
}

TEST_F(WalScan, MissingLogIsReported) {
  make({90});
  std::filesystem::remove(wal_);
  const auto report = scan(folder_);
  EXPECT_EQ(report.wal_files, 0U);
  EXPECT_FALSE(report.fresh);
}

TEST_F(WalScan, CreationWithoutAFamilyIsFresh) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, folder_, &db).ok());
  delete db;
  std::filesystem::remove(logs(folder_).back());
  const auto report = scan(folder_);
  EXPECT_EQ(report.wal_files, 0U);
  EXPECT_TRUE(report.fresh);
}

/// Several live logs: flushes of `other` switch the log, unflushed records of
/// `default` keep the old ones.
class WalScanFiles : public WalScan {
 protected:
  void make_files(int files, int records) {
    RawDatabase database(scratch_ / "live");
    int key = 0;
    for (int file = 0; file < files; ++file) {
      for (int i = 0; i < records; ++i) {
        last_end_ = database.put(key++, 90);
        if (file == 0) ends_.push_back(last_end_);
      }
      if (file + 1 == files) break;
      database.put(0, 0, 1);
      database.flush(1);
    }
    copy_as_killed(scratch_ / "live", folder_);
    ASSERT_EQ(logs(folder_).size(), static_cast<std::size_t>(files));
  }
  std::uint64_t last_end_ = 0;
};

TEST_F(WalScanFiles, AllLiveLogsAreRead) {
  make_files(3, 10);
  const auto report = scan(folder_);
  EXPECT_EQ(report.wal_files, 3U);
  EXPECT_EQ(report.records, 32U);
  EXPECT_EQ(report.last_sequence, 32U);
  EXPECT_FALSE(report.gap);
}

TEST_F(WalScanFiles, CutInAnEarlierLogIsAGap) {
  make_files(2, 10);
  const auto wal = logs(folder_).front();
  const auto bytes = read_file(wal);
  std::uint64_t points = 0;
  for (auto size = bytes.size(); size-- > 0; ++points) {
    SCOPED_TRACE("cut at " + std::to_string(size));
    std::filesystem::resize_file(wal, size);
    const auto report = scan(folder_);
    ASSERT_TRUE(report.gap);
    EXPECT_EQ(report.records, record_of(size));
    EXPECT_EQ(report.gap->offset, start(record_of(size)));
    EXPECT_EQ(report.gap->found_sequence, 12U);
  }
  EXPECT_EQ(points, bytes.size());
}

TEST_F(WalScanFiles, MissingMiddleLogIsAGap) {
  make_files(3, 10);
  std::filesystem::remove(logs(folder_)[1]);
  const auto report = scan(folder_);
  ASSERT_TRUE(report.gap);
  EXPECT_EQ(report.gap->reason, WalGap::Reason::jump);
  EXPECT_EQ(report.records, 11U);
}

TEST_F(WalScanFiles, ObsoleteLogsDoNotCount) {
  make_files(2, 10);
  const auto old_wal = logs(folder_).front();
  const auto old_bytes = read_file(old_wal);
  {
    RawDatabase database(folder_);  // flushes, and removes both logs
    database.put(100, 90);
    copy_as_killed(folder_, scratch_ / "again");
  }
  // Killed before the old one was removed, and it is damaged beside.
  const auto back =
      scratch_ / "again/" + std::filesystem::path(old_wal).filename().string();
  ASSERT_FALSE(std::filesystem::exists(back));
  write_file(back, old_bytes.substr(0, 500) + "x" + old_bytes.substr(501));
  const auto report = scan(scratch_ / "again");
  EXPECT_EQ(report.obsolete_wal_files, 1U);
  EXPECT_EQ(report.wal_files, 1U);
  EXPECT_FALSE(report.gap);
  EXPECT_EQ(report.records, 1U);
}

/// Recovery that keeps the damaged log: the next one goes on behind the last
/// good record.
class WalScanRecovered : public WalScan {
 protected:
  void recover_and_write() {
    RawDatabase database(folder_, true);
    copy_as_killed(folder_, scratch_ / "opened");
    for (int key = 100; key < 105; ++key) database.put(key, 90);
    copy_as_killed(folder_, scratch_ / "again");
  }
  void expect_good(const std::string& folder, std::uint64_t last_sequence) {
    const auto report = scan(folder);
    EXPECT_GE(report.wal_files, 2U);
    EXPECT_FALSE(report.gap);
    EXPECT_EQ(report.dropped_bytes, 0U);
    EXPECT_EQ(report.last_sequence, last_sequence);
  }
};

TEST_F(WalScanRecovered, LogAfterATornTailGoesOn) {
  make(std::vector<std::size_t>(10, 90));
  write_file(wal_, bytes_.substr(0, start(9) + 50));
  recover_and_write();
  expect_good(scratch_ / "opened", 9);
  expect_good(scratch_ / "again", 14);
}

TEST_F(WalScanRecovered, LogAfterAnAcceptedGapGoesOn) {
  make(std::vector<std::size_t>(10, 90));
  auto damaged = bytes_;
  damaged[start(4) + 50] ^= 1;
  write_file(wal_, damaged);
  ASSERT_TRUE(scan(folder_).gap);
  recover_and_write();
  expect_good(scratch_ / "opened", 4);
  expect_good(scratch_ / "again", 9);
}

TEST_F(WalScanRecovered, DamageInTheNextLogIsAGapAgain) {
  make(std::vector<std::size_t>(10, 90));
  write_file(wal_, bytes_.substr(0, start(9) + 50));
  recover_and_write();
  const auto next = logs(scratch_ / "again").back();
  auto bytes = read_file(next);
  bytes[bytes.size() / 2] ^= 1;
  write_file(next, bytes);
  const auto report = scan(scratch_ / "again");
  ASSERT_TRUE(report.gap);
  EXPECT_EQ(report.gap->reason, WalGap::Reason::bad_bytes);
  EXPECT_EQ(report.gap->wal, report.gap->next_wal);
}

/// Takes the logs away between their listing and their opening.
class Vanishing : public rocksdb::FileSystemWrapper {
 public:
  Vanishing() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "Vanishing"; }
  rocksdb::IOStatus NewSequentialFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSSequentialFile>* file,
      rocksdb::IODebugContext* debug) override {
    if (name.ends_with(".log")) std::filesystem::remove(name);
    return target()->NewSequentialFile(name, options, file, debug);
  }
};

TEST_F(WalScan, VanishedLogIsToldApart) {
  make({90});
  Vanishing fs;
  EXPECT_TRUE(scan_wals(fs, folder_).vanished);
}

TEST(Crc32c, AgreesWithRocksDb) {
  std::mt19937 random(3);
  std::string data(300, '\0');
  for (char& c : data) c = static_cast<char>(random());
  const auto factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  for (std::size_t size = 0; size <= data.size(); ++size) {
    auto theirs =
        factory->CreateFileChecksumGenerator(rocksdb::FileChecksumGenContext());
    theirs->Update(data.data(), size);
    theirs->Finalize();
    std::uint32_t expected = 0;
    for (const char c : theirs->GetChecksum()) {
      expected = expected << 8 | static_cast<unsigned char>(c);
    }
    ASSERT_EQ(crc32c(data.data(), size), expected) << size;
    ASSERT_EQ(detail::crc32c_portable(data.data(), size), expected) << size;
  }
}

}  // namespace
}  // namespace satchel::storage::test
