#include "api/embedded/fingerprint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace satchel::embedded {

struct FingerprintBuilder::State {
  XXH3_state_t hash;
};

FingerprintBuilder::FingerprintBuilder(storage::Operation operation)
    : state_(new State) {
  XXH3_128bits_reset(&state_->hash);
  add(static_cast<std::uint64_t>(operation));
}

FingerprintBuilder::~FingerprintBuilder() = default;
FingerprintBuilder::FingerprintBuilder(FingerprintBuilder&&) noexcept = default;

FingerprintBuilder& FingerprintBuilder::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  XXH3_128bits_update(&state_->hash, text.data(), text.size());
  return *this;
}

FingerprintBuilder& FingerprintBuilder::add(std::uint64_t number) {
  const auto bytes = storage::encode_u64(number);
  XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
  return *this;
}

FingerprintBuilder& FingerprintBuilder::add(
    const std::optional<std::uint64_t>& number) {
  return add(static_cast<std::uint64_t>(number.has_value()))
      .add(number.value_or(0));
}

FingerprintBuilder& FingerprintBuilder::add(const Ttl& ttl) {
  return add(static_cast<std::uint64_t>(ttl.kind()))
      .add(static_cast<std::uint64_t>(ttl.duration().count()));
}

storage::Fingerprint FingerprintBuilder::finish() {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->hash));
  storage::Fingerprint fingerprint;
  static_assert(sizeof canonical.digest == fingerprint.size());
  std::memcpy(fingerprint.data(), canonical.digest, fingerprint.size());
  return fingerprint;
}

}  // namespace satchel::embedded
