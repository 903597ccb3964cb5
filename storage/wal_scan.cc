#include "storage/wal_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/log_reader.h"
#include "storage/manifest_scan.h"
#include "storage/status.h"

namespace satchel::storage {

namespace {

/// A record is a WriteBatch: 8 bytes sequence, 4 bytes count, then the writes.
constexpr std::size_t kBatchHeader = 12;
/// RocksDB's sequence numbers have 56 bits.
constexpr std::uint64_t kMaxSequence = (std::uint64_t{1} << 56) - 1;
/// How many blocks of a scan may be searched byte by byte behind damage. One
/// is the rule; the bound is for a file full of noise.
constexpr int kSearches = 32;

std::uint64_t little(const char* data, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(data[i]);
  }
  return value;
}

/// The first bytes of a record, which may be spread over its fragments.
class BatchHeader {
 public:
  void clear() { have_ = 0; }
  /// True when these bytes completed the header.
  bool add(std::string_view payload) {
    if (complete()) return false;
    const auto take = std::min(payload.size(), kBatchHeader - have_);
    std::copy_n(payload.data(), take, bytes_.data() + have_);
    have_ += take;
    return complete();
  }
  bool complete() const { return have_ == kBatchHeader; }
  std::uint64_t sequence() const { return little(bytes_.data(), 8); }
  std::uint64_t count() const { return little(bytes_.data() + 8, 4); }

 private:
  std::array<char, kBatchHeader> bytes_{};
  std::size_t have_ = 0;
};

/// Bytes behind the last good record that are no record.
struct Tail {
  std::uint64_t wal = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool zeros = true;  // and nothing else
};

class Scan {
 public:
  explicit Scan(rocksdb::FileSystem& fs) : fs_(fs) {}

  WalReport run(const std::string& folder);

 private:
  std::unique_ptr<LogReader> open(const std::string& folder, std::uint64_t wal);
  void read_file(LogReader& reader, std::uint64_t wal);
  bool starts_at_expected(LogReader& reader) const;
  std::uint64_t bytes_behind(const WalGap& gap, const std::string& folder,
                             const std::vector<std::uint64_t>& numbers) const;

  // Parts of read_file; false: the rest of the file is of no use.
  bool start_record(const Fragment& fragment);
  bool add(const Fragment& fragment);
  bool header_known();
  void complete_record(const Fragment& fragment);
  void lose(std::uint64_t offset, bool zeros);
  void end_file(std::uint64_t size);
  void resync(LogReader& reader);
  bool plausible(std::uint64_t sequence) const;

  rocksdb::FileSystem& fs_;
  WalReport report_;
  bool expects_ = false;  // expected_ is known
  std::uint64_t expected_ = 0;
  int searches_left_ = kSearches;
  Tail tail_;                  // of this and earlier files
  bool has_tail_ = false;      // tail_ holds
  bool first_ = true;          // no record header of this file was seen yet
  bool first_of_all_ = true;   // no file was read yet
  bool empty_before_ = false;  // a file without a record came before this one
  bool healable_ = true;       // RocksDB, too, stops at the gap
  // The file that is read.
  std::uint64_t wal_ = 0;
  bool lost_ = false;  // the tail began in this file
  std::uint64_t lost_at_ = 0;
  bool in_record_ = false;
  std::uint64_t record_at_ = 0;
  std::uint64_t good_wal_ = 0;  // where the last good record ends
  std::uint64_t good_end_ = 0;
  BatchHeader header_;
};

std::vector<std::uint64_t> wal_numbers(rocksdb::FileSystem& fs,
                                       const std::string& folder) {
  std::vector<std::string> names;
  check(fs.GetChildren(folder, rocksdb::IOOptions(), &names, nullptr),
        "list the store's folder");
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) {
    std::uint64_t number = 0;
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data(), end, number);
    if (error == std::errc() && std::string_view(rest, end) == ".log") {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string wal_path(const std::string& folder, std::uint64_t wal) {
  std::string digits = std::to_string(wal);
  digits.insert(0, digits.size() < 6 ? 6 - digits.size() : 0, '0');
  return folder + "/" + digits + ".log";
}

WalReport Scan::run(const std::string& folder) {
  // The names first: what a writer beside has made by now, it had finished
  // the file before; and what it has deleted, the MANIFEST knows.
  const auto numbers = wal_numbers(fs_, folder);
  const auto manifest = scan_manifest(fs_, folder);
  report_.fresh = manifest.fresh;
  for (const auto wal : numbers) {
    if (wal < manifest.first_live_wal) {
      ++report_.obsolete_wal_files;
      continue;
    }
    ++report_.wal_files;
    if (report_.gap && !healable_) continue;
    if (report_.gap) {
      // Recovery at a point in time once ended at this gap, when a later file
      // goes on exactly there. What lies between was given up then.
      auto reader = open(folder, wal);
      if (reader == nullptr) return report_;
      if (!starts_at_expected(*reader)) continue;
      report_.gap.reset();
      has_tail_ = false;
    }
    auto reader = open(folder, wal);
    if (reader == nullptr) return report_;
    read_file(*reader, wal);
    report_.bytes += reader->size_read();
  }
  report_.last_sequence = expects_ && expected_ > 0 ? expected_ - 1 : 0;
  if (report_.gap) {
    report_.dropped_bytes = bytes_behind(*report_.gap, folder, numbers);
  } else if (has_tail_) {
    (tail_.zeros ? report_.zero_bytes : report_.dropped_bytes) = tail_.bytes;
  }
  return report_;
}

std::uint64_t Scan::bytes_behind(
    const WalGap& gap, const std::string& folder,
    const std::vector<std::uint64_t>& numbers) const {
  std::uint64_t sum = 0;
  for (const auto wal : numbers) {
    std::uint64_t size = 0;
    if (wal < gap.wal) continue;
    check(fs_.GetFileSize(wal_path(folder, wal), rocksdb::IOOptions(), &size,
                          nullptr),
          "read the log");
    sum += size;
  }
  return sum - std::min(sum, gap.offset);
}

// Null, and `vanished` is set, when the file is not there any more.
std::unique_ptr<LogReader> Scan::open(const std::string& folder,
                                      std::uint64_t wal) {
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  const auto status = fs_.NewSequentialFile(
      wal_path(folder, wal), rocksdb::FileOptions(), &file, nullptr);
  if (status.IsNotFound() || status.IsPathNotFound()) {
    report_.vanished = true;
    return nullptr;
  }
  check(status, "read the log");
  return std::make_unique<LogReader>(std::move(file), wal);
}

bool Scan::starts_at_expected(LogReader& reader) const {
  BatchHeader header;
  for (bool first = true; !header.complete(); first = false) {
    const auto fragment = reader.next();
    if (fragment.kind == Fragment::Kind::ignorable) continue;
    if (first ? !fragment.starts_record()
              : fragment.kind != Fragment::Kind::middle &&
                    fragment.kind != Fragment::Kind::last) {
      return false;
    }
    header.add(fragment.payload);
    if (fragment.kind == Fragment::Kind::full) break;
  }
  return expects_ && header.complete() && header.sequence() == expected_;
}

void Scan::read_file(LogReader& reader, std::uint64_t wal) {
  wal_ = wal;
  // RocksDB begins another log only when this one holds a record.
  if (!first_of_all_ && !expects_) empty_before_ = true;
  if (first_of_all_) good_wal_ = wal;
  first_of_all_ = false;
  first_ = true;
  lost_ = in_record_ = false;
  for (;;) {
    const auto fragment = reader.next();
    bool go_on = true;
    switch (fragment.kind) {
      case Fragment::Kind::end:
        return end_file(reader.size_read());
      case Fragment::Kind::zeros:
        lose(fragment.offset, !in_record_);
        break;
      case Fragment::Kind::bad:
        lose(fragment.offset, false);
        resync(reader);
        break;
      case Fragment::Kind::ignorable:
        break;
      case Fragment::Kind::full:
      case Fragment::Kind::first:
        go_on = start_record(fragment);
        break;
      case Fragment::Kind::middle:
      case Fragment::Kind::last:
        // Behind damage these may be the rest of the one damaged record: they
        // prove no other one.
        if (in_record_) {
          go_on = add(fragment);
        } else {
          lose(fragment.offset, false);
        }
        break;
    }
    if (!go_on) return;
  }
}

// From `offset` on, or from where the record began that is being read.
void Scan::lose(std::uint64_t offset, bool zeros) {
  if (!lost_) {
    lost_ = true;
    lost_at_ = in_record_ ? record_at_ : offset;
    if (!has_tail_) tail_ = {wal_, lost_at_, 0, true};
    has_tail_ = true;
  }
  in_record_ = false;
  tail_.zeros = tail_.zeros && zeros;
}

void Scan::resync(LogReader& reader) {
  if (searches_left_ > 0) {
    --searches_left_;
    if (reader.find_in_block()) return;
  }
  reader.next_block();
}

bool Scan::plausible(std::uint64_t sequence) const {
  return sequence <= kMaxSequence && (!expects_ || sequence >= expected_);
}

bool Scan::start_record(const Fragment& fragment) {
  if (in_record_) lose(fragment.offset, false);
  header_.clear();
  if (lost_) {
    header_.add(fragment.payload);
    const bool known = header_.complete();
    if (known && !plausible(header_.sequence())) return true;
    if (!known && fragment.kind == Fragment::Kind::full) return true;
    report_.gap = {WalGap::Reason::bad_bytes,
                   tail_.wal,
                   tail_.offset,
                   expected_,
                   wal_,
                   fragment.offset,
                   known ? header_.sequence() : 0};
    return false;
  }
  in_record_ = true;
  record_at_ = fragment.offset;
  return add(fragment);
}

bool Scan::add(const Fragment& fragment) {
  if (header_.add(fragment.payload) && !header_known()) return false;
  if (fragment.kind == Fragment::Kind::full ||
      fragment.kind == Fragment::Kind::last) {
    complete_record(fragment);
  }
  return true;
}

// Does the record whose header was just read follow the last good one?
bool Scan::header_known() {
  const auto sequence = header_.sequence();
  // With no good record before there is nothing to compare with, and a log
  // that has lost all of its records cannot be followed by one of a later.
  const bool follows =
      expects_ ? sequence == expected_ : sequence <= 1 || !empty_before_;
  if (follows && sequence <= kMaxSequence) {
    if (first_) has_tail_ = false;  // recovery went on behind that tail
    first_ = false;
    return true;
  }
  const bool stops = first_ && has_tail_ && !tail_.zeros;
  const bool back = expects_ && sequence < expected_;
  report_.gap = {stops  ? WalGap::Reason::bad_bytes
                 : back ? WalGap::Reason::backwards
                        : WalGap::Reason::jump,
                 has_tail_ ? tail_.wal : good_wal_,
                 has_tail_ ? tail_.offset : good_end_,
                 expected_,
                 wal_,
                 record_at_,
                 sequence};
  healable_ = stops;
  return false;
}

void Scan::complete_record(const Fragment& fragment) {
  if (!header_.complete()) return lose(fragment.offset, false);
  in_record_ = false;
  expects_ = true;
  expected_ = header_.sequence() + header_.count();
  ++report_.records;
  good_wal_ = wal_;
  good_end_ = fragment.end;
}

void Scan::end_file(std::uint64_t size) {
  if (in_record_) lose(record_at_, false);
  if (lost_) tail_.bytes += size - lost_at_;
}

}  // namespace

WalReport scan_wals(rocksdb::FileSystem& fs, const std::string& folder) {
  return Scan(fs).run(folder);
}

}  // namespace satchel::storage
