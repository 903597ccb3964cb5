#include "api/embedded/errors.h"

#include <new>
#include <utility>

#include "api/embedded/values.h"
#include "satchel/objects.h"

namespace satchel::embedded {
namespace {

constexpr double kDay = 24.0 * 3600 * 1'000'000;

ErrorCode code_of(storage::Failure::Kind kind) {
  using Kind = storage::Failure::Kind;
  switch (kind) {
    case Kind::corrupt:
      return ErrorCode::store_corrupt;
    case Kind::io:
    case Kind::no_space:
    case Kind::no_permission:
      return ErrorCode::backend_error;
    case Kind::read_only:
      return ErrorCode::read_only;
    case Kind::not_a_store:
      return ErrorCode::not_a_store;
    case Kind::format_too_new:
      return ErrorCode::format_too_new;
    case Kind::locked:
      return ErrorCode::store_locked;
    case Kind::other_identity:
      return ErrorCode::invalid_input;
  }
  return ErrorCode::internal_error;
}

constexpr const char* kNotSaved = "; the save was not applied";

}  // namespace

Error current_error() noexcept {
  try {
    throw;
  } catch (const storage::Failure& failure) {
    auto details = Json::object();
    if (failure.pid > 0) details["pid"] = failure.pid;
    if (failure.kind == storage::Failure::Kind::other_identity) {
      details["field"] = "store";
    }
    return {code_of(failure.kind), failure.what(), std::move(details)};
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::internal_error, "out of memory; nothing was changed"};
  } catch (...) {
    return {ErrorCode::internal_error,
            "a fault of the store itself; please report it"};
  }
}

Error invalid(std::string_view field, std::string message) {
  return {ErrorCode::invalid_input, std::move(message), {{"field", field}}};
}

Error handle_not_found(bool saving) {
  return {ErrorCode::handle_not_found,
          std::string("this user has no such handle; list the handles, or mint "
                      "a new one") +
              (saving ? kNotSaved : "")};
}

Error handle_expired(const storage::Head& head, bool saving) {
  const auto at = to_rfc3339(to_time(head.deadline));
  return {
      ErrorCode::handle_expired,
      "this handle expired at " + at + "; mint a new one" +
          (saving ? kNotSaved : ""),
      {{"expired_at", at}, {"ttl_days", static_cast<double>(head.ttl) / kDay}}};
}

Error version_gone(std::uint64_t oldest) {
  return {
      ErrorCode::version_gone,
      "this version is no longer kept; the oldest is " + std::to_string(oldest),
      {{"oldest", oldest}}};
}

Error quota_exceeded(std::string_view what, std::uint64_t held,
                     std::uint64_t limit) {
  return {ErrorCode::quota_exceeded,
          "this user holds " + std::to_string(held) + " " + std::string(what) +
              ", and " + std::to_string(limit) + " are allowed",
          {{"held", held}, {"limit", limit}}};
}

Error state_too_large(std::uint64_t size, std::uint64_t limit) {
  return {ErrorCode::state_too_large,
          "the state has " + std::to_string(size) + " bytes, and " +
              std::to_string(limit) +
              " are allowed; split it over several handles or store less",
          {{"size_bytes", size}, {"limit_bytes", limit}}};
}

Error request_conflict() {
  return {ErrorCode::request_conflict,
          "this request_id was used for another call; use a new one for each "
          "new call, and the same one only to repeat a call unchanged"};
}

Error too_much_contention() {
  return {ErrorCode::backend_error,
          "too many writers at once; nothing was changed, try "
          "again"};
}

Error store_closed() {
  return {ErrorCode::store_closed, "the store was closed; open it again"};
}

void require_alive(const storage::Head& head, std::uint64_t now, bool saving) {
  if (head.status == storage::Status::live && head.deadline > now) return;
  const bool forgotten =
      now >= storage::kHorizon && head.deadline <= now - storage::kHorizon;
  if (head.status == storage::Status::revoked || forgotten) {
    throw handle_not_found(saving);
  }
  throw handle_expired(head, saving);
}

}  // namespace satchel::embedded
