#pragma once
// RocksDB's log format (the WAL, the MANIFEST), read fragment by fragment.
// Names RocksDB types: included by storage/ and by tests only.

#include <rocksdb/file_system.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace satchel::storage {

/// A physical record: a whole logical one, or a part of one. None crosses a
/// block of 32 KiB.
struct Fragment {
  enum class Kind : std::uint8_t {
    full,
    first,
    middle,
    last,
    ignorable,  // of a later RocksDB, which says that it may be skipped
    zeros,      // the rest of the block is zeros
    bad,        // does not verify; `size` is 0
    end,        // of the file
  };
  Kind kind = Kind::end;
  std::string_view payload;  // valid until the next call
  std::uint64_t offset = 0;  // of the header in the file
  std::uint64_t end = 0;     // of the payload in the file

  bool starts_record() const {
    return kind == Kind::full || kind == Kind::first;
  }
};

class LogReader {
 public:
  /// `number`: of the log file; recyclable records carry it.
  LogReader(std::unique_ptr<rocksdb::FSSequentialFile> file,
            std::uint64_t number);

  /// The next fragment. After a bad one it stands still until find_in_block()
  /// or next_block(). Throws Failure io.
  Fragment next();

  /// Steps behind the bad bytes to the next fragment in this block that
  /// verifies, at any offset; false: there is none.
  bool find_in_block();

  /// Steps to the start of the next block; false at the end of the file.
  bool next_block();

  /// Bytes of the file that were read so far; its size once next() said end.
  std::uint64_t size_read() const { return buffer_start_ + buffered_; }

 private:
  std::uint64_t position() const { return buffer_start_ + at_; }
  std::size_t block_end() const;
  bool fill();
  Fragment parse(std::size_t at, std::size_t block_end) const;

  std::unique_ptr<rocksdb::FSSequentialFile> file_;
  std::uint64_t number_;
  std::vector<char> buffer_;
  std::uint64_t buffer_start_ = 0;  // in the file; a multiple of the block size
  std::size_t buffered_ = 0;
  std::size_t at_ = 0;  // in the buffer
  bool recycled_ = false;
};

}  // namespace satchel::storage
