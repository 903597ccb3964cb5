#pragma once
// Errors of the library: one closed list of codes, one value that carries a
// code, a message and details, and Result<T>, which is a value or an Error.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "satchel/json.h"

namespace satchel {

enum class ErrorCode : std::uint8_t {
  /// No such handle for this user: missing, another user's, or revoked.
  handle_not_found,
  /// The handle lived here and its time is over; details: expired_at, ttl_days.
  handle_expired,
  /// The version is no longer kept; details: oldest.
  version_gone,
  /// No such key in this scope (the program says so; the library returns none).
  key_not_found,
  /// An argument breaks a rule; details: field, for numbers and keys also path.
  invalid_input,
  /// A patch op cannot be applied; details: op, index, path, reason.
  patch_error,
  /// The state would exceed its cap; details: size_bytes, limit_bytes.
  state_too_large,
  /// A key-value value would exceed its cap; details: valueBytes, limitBytes.
  value_too_large,
  /// A limit of this user is reached; details: held, limit; of a key-value
  /// scope also usedBytes, limitBytes.
  quota_exceeded,
  /// The key holds no counter; details: key, actual.
  type_mismatch,
  /// Another write came first; details: current (the full snapshot),
  /// expected_version.
  stale_write,
  /// The request id was used for another call.
  request_conflict,
  /// The condition of a key-value set does not hold.
  condition_failed,
  /// Stored bytes are damaged.
  store_corrupt,
  /// The disk or the storage engine refused.
  backend_error,
  /// A fault of this library.
  internal_error,
  /// The store takes no writes: opened so, or a write failed earlier.
  read_only,
  /// The store was made by a newer program.
  format_too_new,
  /// The folder or file is not a store.
  not_a_store,
  /// The store was closed.
  store_closed,
  /// Another process (or another open in this one) holds the store; details:
  /// pid when known.
  store_locked,
};

/// The code's name on every wire, for example "stale_write".
std::string_view name(ErrorCode code) noexcept;

/// The exit code of the `satchel` program for this error.
int exit_code(ErrorCode code) noexcept;

/// One failure. `message` is an instruction for recovery and holds no path, no
/// credential and nothing of another user. `details` is an object whose members
/// depend on the code (listed above).
struct Error : std::exception {
  Error(ErrorCode code, std::string message, Json details = Json::object());

  const char* what() const noexcept override { return message.c_str(); }

  /// {"ok":false,"error":{code,message,…details}}, one compact line.
  std::string to_payload() const;

  ErrorCode code;
  std::string message;
  Json details;
};

/// A value or the Error that kept it from being. Not thread-safe.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}  // NOLINT
  Result(Error error)
      : v_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const noexcept { return v_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// The value; throws the Error when there is none.
  T& value() & { return check(), std::get<0>(v_); }
  const T& value() const& { return check(), std::get<0>(v_); }
  T&& value() && { return check(), std::get<0>(std::move(v_)); }

  T& operator*() & { return std::get<0>(v_); }
  T&& operator*() && { return std::get<0>(std::move(v_)); }
  const T& operator*() const& { return std::get<0>(v_); }
  T* operator->() { return &std::get<0>(v_); }
  const T* operator->() const { return &std::get<0>(v_); }

  /// The error; only when !ok().
  const Error& error() const& { return std::get<1>(v_); }
  Error&& error() && { return std::get<1>(std::move(v_)); }

 private:
  void check() const {
    if (!ok()) throw std::get<1>(v_);
  }
  std::variant<T, Error> v_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error)
      : e_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const noexcept { return e_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  void value() const {
    if (!ok()) throw std::get<1>(e_);
  }
  const Error& error() const { return std::get<1>(e_); }

 private:
  std::variant<std::monostate, Error> e_;
};

}  // namespace satchel
