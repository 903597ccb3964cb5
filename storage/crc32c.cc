#include "storage/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace satchel::storage {

namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
    }
    tables[0][i] = crc;
  }
  for (std::size_t t = 1; t < 8; ++t) {
    for (std::size_t i = 0; i < 256; ++i) {
      const auto previous = tables[t - 1][i];
      tables[t][i] = (previous >> 8) ^ tables[0][previous & 0xffU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t byte_of(const char* data) {
  return static_cast<unsigned char>(*data);
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_sse42(const char* data,
                                                             std::size_t size) {
  std::uint64_t crc = 0xffffffffU;
  for (; size >= 8; data += 8, size -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (; size > 0; ++data, --size) {
    rest = _mm_crc32_u8(rest, static_cast<unsigned char>(*data));
  }
  return ~rest;
}
#endif

}  // namespace

std::uint32_t detail::crc32c_portable(const char* data, std::size_t size) {
  std::uint32_t crc = 0xffffffffU;
  for (; size >= 8; data += 8, size -= 8) {
    const auto low = crc ^ (byte_of(data) | byte_of(data + 1) << 8 |
                            byte_of(data + 2) << 16 | byte_of(data + 3) << 24);
    crc = kTables[7][low & 0xffU] ^ kTables[6][(low >> 8) & 0xffU] ^
          kTables[5][(low >> 16) & 0xffU] ^ kTables[4][low >> 24] ^
          kTables[3][byte_of(data + 4)] ^ kTables[2][byte_of(data + 5)] ^
          kTables[1][byte_of(data + 6)] ^ kTables[0][byte_of(data + 7)];
  }
  for (; size > 0; ++data, --size) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ byte_of(data)) & 0xffU];
  }
  return ~crc;
}

std::uint32_t crc32c(const char* data, std::size_t size) {
#if defined(__x86_64__)
  static const bool kFast = __builtin_cpu_supports("sse4.2");
  if (kFast) return crc32c_sse42(data, size);
#endif
  return detail::crc32c_portable(data, size);
}

}  // namespace satchel::storage
