#pragma once
// SHA-256 and base64url.

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace satchel::tools::serve {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view bytes);
/// Lower-case hex digits.
std::string hex(const Digest& digest);
/// 64 hex digits of either case; none for anything else.
std::optional<Digest> digest_from_hex(std::string_view text);
/// In a time that does not depend on where the two differ.
bool same(const Digest& a, const Digest& b);

/// The bytes of base64url without padding; none when `text` is not the one
/// spelling that these bytes have.
std::optional<std::string> from_base64url(std::string_view text);
/// The bytes of base64 with or without padding, as headers carry it.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace satchel::tools::serve
