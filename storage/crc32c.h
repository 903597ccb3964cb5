#pragma once
// CRC-32C as RocksDB's log uses it. Own code because the log is scanned on
// every open and RocksDB offers a fast one only behind an allocation a record.

#include <cstddef>
#include <cstdint>

namespace satchel::storage {

std::uint32_t crc32c(const char* data, std::size_t size);

/// What RocksDB stores for a checksum.
constexpr std::uint32_t mask_crc(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

namespace detail {
/// The same without special instructions; for machines that have none.
std::uint32_t crc32c_portable(const char* data, std::size_t size);
}  // namespace detail

}  // namespace satchel::storage
