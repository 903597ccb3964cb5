#include "storage/log_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "storage/crc32c.h"
#include "storage/status.h"

namespace satchel::storage {

namespace {

constexpr std::size_t kBlock = 32 * 1024;
constexpr std::size_t kBuffer = 8 * kBlock;
constexpr std::size_t kHeader = 4 + 2 + 1;              // crc, length, type
constexpr std::size_t kRecyclableHeader = kHeader + 4;  // and log number
constexpr std::uint8_t kLastLegacy = 4, kLastRecyclable = 8;  // types
constexpr std::uint8_t kIgnorableBit = 32;

std::uint32_t little32(const char* data) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(data[i]);
  }
  return value;
}

bool all_zeros(const char* data, std::size_t size) {
  return std::all_of(data, data + size, [](char c) { return c == 0; });
}

}  // namespace

LogReader::LogReader(std::unique_ptr<rocksdb::FSSequentialFile> file,
                     std::uint64_t number)
    : file_(std::move(file)), number_(number), buffer_(kBuffer) {}

std::size_t LogReader::block_end() const {
  return std::min(buffered_, (at_ / kBlock + 1) * kBlock);
}

// Reads on when the buffer is used up; false at the end of the file.
bool LogReader::fill() {
  if (at_ < buffered_) return true;
  if (buffered_ > 0 && buffered_ < kBuffer) return false;
  buffer_start_ += buffered_;
  buffered_ = at_ = 0;
  while (buffered_ < kBuffer) {
    rocksdb::Slice got;
    check(file_->Read(kBuffer - buffered_, rocksdb::IOOptions(), &got,
                      buffer_.data() + buffered_, nullptr),
          "read the log");
    if (got.empty()) break;
    // A file system may answer with memory of its own.
    if (got.data() != buffer_.data() + buffered_) {
      std::memcpy(buffer_.data() + buffered_, got.data(), got.size());
    }
    buffered_ += got.size();
  }
  return buffered_ > 0;
}

Fragment LogReader::parse(std::size_t at, std::size_t block_end) const {
  Fragment fragment;
  fragment.kind = Fragment::Kind::bad;
  fragment.offset = fragment.end = buffer_start_ + at;
  const char* header = buffer_.data() + at;
  const std::size_t left = block_end - at;
  if (left < kHeader) {
    if (all_zeros(header, left)) {
      fragment.kind = Fragment::Kind::zeros;
      fragment.end = buffer_start_ + block_end;
    }
    return fragment;
  }
  const std::size_t length =
      static_cast<unsigned char>(header[4]) |
      static_cast<std::size_t>(static_cast<unsigned char>(header[5])) << 8;
  const auto type = static_cast<std::uint8_t>(header[6]);
  const bool recyclable = type > kLastLegacy && type <= kLastRecyclable;
  const std::size_t header_size = recyclable ? kRecyclableHeader : kHeader;
  if (type == 0 && length == 0) {
    if (all_zeros(header, left)) {
      fragment.kind = Fragment::Kind::zeros;
      fragment.end = buffer_start_ + block_end;
    }
    return fragment;
  }
  const bool ignorable = (type & kIgnorableBit) != 0;
  if (type == 0 || (type > kLastRecyclable && !ignorable) ||
      header_size + length > left ||
      (recyclable &&
       little32(header + kHeader) != static_cast<std::uint32_t>(number_)) ||
      mask_crc(crc32c(header + 6, header_size - 6 + length)) !=
          little32(header)) {
    return fragment;
  }
  fragment.kind = ignorable
                      ? Fragment::Kind::ignorable
                      : static_cast<Fragment::Kind>((type - 1) % kLastLegacy);
  fragment.payload = {header + header_size, length};
  fragment.end = fragment.offset + header_size + length;
  return fragment;
}

Fragment LogReader::next() {
  while (fill()) {
    const auto end = block_end();
    const bool whole_block = end % kBlock == 0;
    const auto left = end - at_;
    // Too short for a header: the writer filled it up, RocksDB ignores it.
    if (whole_block && left < kHeader) {
      at_ = end;
      continue;
    }
    auto fragment = parse(at_, end);
    if (fragment.kind == Fragment::Kind::zeros && recycled_ && whole_block &&
        left < kRecyclableHeader) {
      at_ = end;
      continue;
    }
    if (fragment.kind != Fragment::Kind::bad) {
      recycled_ = fragment.kind != Fragment::Kind::zeros &&
                  fragment.end - fragment.offset - fragment.payload.size() ==
                      kRecyclableHeader;
      at_ = fragment.end - buffer_start_;
    }
    return fragment;
  }
  Fragment end;
  end.offset = end.end = position();
  return end;
}

bool LogReader::find_in_block() {
  const auto end = block_end();
  for (std::size_t at = at_ + 1; at + kHeader <= end; ++at) {
    const auto type = static_cast<std::uint8_t>(buffer_[at + 6]);
    if (type == 0 || type > kLastRecyclable) continue;  // the cheap test first
    if (parse(at, end).kind != Fragment::Kind::bad) {
      at_ = at;
      return true;
    }
  }
  return false;
}

bool LogReader::next_block() {
  at_ = block_end();
  return fill();
}

}  // namespace satchel::storage
