#include "tools/serve/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstdint>
#include <stdexcept>

namespace satchel::tools::serve {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

int base64_value(char c, const char* last_two) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == last_two[0]) return 62;
  if (c == last_two[1]) return 63;
  return -1;
}

std::optional<std::string> decode(std::string_view text, const char* last_two) {
  if (text.size() % 4 == 1) return {};
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = base64_value(c, last_two);
    if (value < 0) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 0xff);
    }
  }
  // Bits that no byte uses are zero, or two texts would stand for one value.
  if (bits & ((1u << held) - 1)) return {};
  return out;
}

}  // namespace

Digest sha256(std::string_view bytes) {
  Digest out;
  unsigned int size = 0;
  if (!EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, EVP_sha256(),
                  nullptr)) {
    throw std::runtime_error("SHA-256 failed");
  }
  return out;
}

std::string hex(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : digest) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::optional<Digest> digest_from_hex(std::string_view text) {
  Digest out;
  if (text.size() != out.size() * 2) return {};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return {};
    out[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return out;
}

bool same(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<std::string> from_base64url(std::string_view text) {
  return decode(text, "-_");
}

std::optional<std::string> from_base64(std::string_view text) {
  const auto end = text.find_last_not_of('=');
  const auto bare = text.substr(0, end == text.npos ? 0 : end + 1);
  const auto padding = text.size() - bare.size();
  if (padding > 2 || (padding && text.size() % 4)) return {};
  return decode(bare, "+/");
}

}  // namespace satchel::tools::serve
