#pragma once
// What makes two calls with one request id the same call.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "satchel/ttl.h"
#include "storage/format.h"

namespace satchel::embedded {

/// 128 bits over an operation, a handle and its arguments, each delimited.
class FingerprintBuilder {
 public:
  explicit FingerprintBuilder(storage::Operation operation);
  ~FingerprintBuilder();
  FingerprintBuilder(FingerprintBuilder&&) noexcept;
  FingerprintBuilder& add(std::string_view text);
  FingerprintBuilder& add(std::uint64_t number);
  FingerprintBuilder& add(const std::optional<std::uint64_t>& number);
  FingerprintBuilder& add(const Ttl& ttl);
  storage::Fingerprint finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace satchel::embedded
