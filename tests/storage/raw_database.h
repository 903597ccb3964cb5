#pragma once
// A small RocksDB whose log the tests damage: what they know about it is
// measured from outside, not taken from the code under test.

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace satchel::storage::test {

/// A new folder that goes away in the end.
class Scratch {
 public:
  Scratch() {
    std::string name =
        (std::filesystem::temp_directory_path() / "satchel-storage-XXXXXX")
            .string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  ASSERT_TRUE(out.good()) << path;
}

/// Paths of the logs in `folder`, oldest first.
inline std::vector<std::string> logs(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".log") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// RocksDB with the families `default` and `other`.
class RawDatabase {
 public:
  explicit RawDatabase(const std::string& folder,
                       bool keep_logs_on_recovery = false)
      : folder_(folder) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    options.avoid_flush_during_recovery = keep_logs_on_recovery;
    options.info_log_level = rocksdb::FATAL_LEVEL;
    rocksdb::DB* db = nullptr;
    const auto status =
        rocksdb::DB::Open(options, folder,
                          {{"default", rocksdb::ColumnFamilyOptions(options)},
                           {"other", rocksdb::ColumnFamilyOptions(options)}},
                          &families_, &db);
    if (!status.ok()) throw std::runtime_error(status.ToString());
    db_.reset(db);
  }
  ~RawDatabase() { close(); }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;

  /// One record; returns where it ends in the newest log.
  std::uint64_t put(int key, std::size_t value_size, int family = 0) {
    const auto status = db_->Put(rocksdb::WriteOptions(), families_.at(family),
                                 name(key), std::string(value_size, 'v'));
    if (!status.ok()) throw std::runtime_error(status.ToString());
    return std::filesystem::file_size(logs(folder_).back());
  }
  static std::string name(int key) {
    std::string digits = std::to_string(key);
    return "key" + std::string(6 - digits.size(), '0') + digits;
  }
  void flush(int family) {
    const auto status =
        db_->Flush(rocksdb::FlushOptions(), families_.at(family));
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }
  /// The keys of `default` in order, as numbers.
  std::vector<int> keys() {
    std::vector<int> found;
    const std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(rocksdb::ReadOptions(), families_.at(0)));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      found.push_back(std::stoi(it->key().ToString().substr(3)));
    }
    return found;
  }
  rocksdb::DB& db() { return *db_; }
  void close() {
    for (auto* family : families_) delete family;
    families_.clear();
    db_.reset();
  }

 private:
  std::string folder_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  std::unique_ptr<rocksdb::DB> db_;
};

/// What is on disk at this moment, as a SIGKILL would leave it.
inline void copy_as_killed(const std::string& from, const std::string& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

}  // namespace satchel::storage::test
