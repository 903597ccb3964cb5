#include "api/embedded/cursor.h"

#include <blake2.h>

#include <array>
#include <cstdint>

#include "api/embedded/errors.h"
#include "storage/format.h"

namespace satchel::embedded {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

/// Empty when `hex` is not lower-case hex of whole bytes.
std::string from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return {};
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const auto high = kDigits.find(hex[i]);
    const auto low = kDigits.find(hex[i + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return {};
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

constexpr std::size_t kMacBytes = 16;

std::string authenticator(std::string_view secret, std::string_view query,
                          std::string_view position) {
  const auto message = std::string(query).append(position);
  std::array<std::uint8_t, kMacBytes> mac;
  blake2b(mac.data(), message.data(), secret.data(), mac.size(), message.size(),
          secret.size());
  return {reinterpret_cast<const char*>(mac.data()), mac.size()};
}

Error foreign_cursor() {
  return invalid("cursor",
                 "this cursor does not belong to this list; use the one that "
                 "the page before gave, or leave it out to start again");
}

std::string text_of(const ListQuery& query) {
  return storage::escaped(query.user) + storage::escaped(query.kind) +
         (query.include_expired ? '1' : '0');
}

}  // namespace

std::string make_cursor(std::string_view secret, std::string_view query,
                        std::string_view position) {
  return to_hex(std::string(position) + authenticator(secret, query, position));
}

std::string read_cursor(std::string_view secret, std::string_view query,
                        std::string_view cursor) {
  auto position = from_hex(cursor);
  if (position.size() < kMacBytes) throw foreign_cursor();
  position.resize(position.size() - kMacBytes);
  if (make_cursor(secret, query, position) != cursor) throw foreign_cursor();
  return position;
}

std::string make_cursor(std::string_view secret, const ListQuery& query,
                        const storage::UserView::Position& position) {
  return make_cursor(secret, text_of(query),
                     storage::encode_u64(position.updated) + position.handle);
}

storage::UserView::Position read_cursor(std::string_view secret,
                                        const ListQuery& query,
                                        std::string_view cursor) {
  constexpr std::size_t kTimeBytes = 8;
  const auto position = read_cursor(secret, text_of(query), cursor);
  if (position.size() < kTimeBytes) throw foreign_cursor();
  return {storage::decode_u64(position.substr(0, kTimeBytes)),
          position.substr(kTimeBytes)};
}

}  // namespace satchel::embedded
