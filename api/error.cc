#include "satchel/error.h"

#include <simdjson.h>

#include "json_write.h"

namespace satchel {

std::string_view name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::handle_not_found:
      return "handle_not_found";
    case ErrorCode::handle_expired:
      return "handle_expired";
    case ErrorCode::version_gone:
      return "version_gone";
    case ErrorCode::key_not_found:
      return "key_not_found";
    case ErrorCode::invalid_input:
      return "invalid_input";
    case ErrorCode::patch_error:
      return "patch_error";
    case ErrorCode::state_too_large:
      return "state_too_large";
    case ErrorCode::value_too_large:
      return "value_too_large";
    case ErrorCode::quota_exceeded:
      return "quota_exceeded";
    case ErrorCode::type_mismatch:
      return "type_mismatch";
    case ErrorCode::stale_write:
      return "stale_write";
    case ErrorCode::request_conflict:
      return "request_conflict";
    case ErrorCode::condition_failed:
      return "condition_failed";
    case ErrorCode::store_corrupt:
      return "store_corrupt";
    case ErrorCode::backend_error:
      return "backend_error";
    case ErrorCode::internal_error:
      return "internal_error";
    case ErrorCode::read_only:
      return "read_only";
    case ErrorCode::format_too_new:
      return "format_too_new";
    case ErrorCode::not_a_store:
      return "not_a_store";
    case ErrorCode::store_closed:
      return "store_closed";
    case ErrorCode::store_locked:
      return "store_locked";
  }
  return "internal_error";
}

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::handle_not_found:
    case ErrorCode::handle_expired:
    case ErrorCode::version_gone:
    case ErrorCode::key_not_found:
      return 1;
    case ErrorCode::invalid_input:
    case ErrorCode::patch_error:
    case ErrorCode::state_too_large:
    case ErrorCode::value_too_large:
    case ErrorCode::quota_exceeded:
    case ErrorCode::type_mismatch:
      return 2;
    case ErrorCode::stale_write:
    case ErrorCode::request_conflict:
    case ErrorCode::condition_failed:
      return 3;
    case ErrorCode::store_corrupt:
      return 4;
    case ErrorCode::backend_error:
    case ErrorCode::internal_error:
    case ErrorCode::read_only:
    case ErrorCode::format_too_new:
    case ErrorCode::not_a_store:
    case ErrorCode::store_closed:
      return 5;
    case ErrorCode::store_locked:
      return 7;
  }
  return 5;
}

Error::Error(ErrorCode c, std::string m, Json d)
    : code(c), message(std::move(m)), details(std::move(d)) {}

std::string Error::to_payload() const {
  Json error = {{"code", name(code)}, {"message", message}};
  if (details.is_object()) {
    for (const auto& [key, value] : details.items())
      if (key != "code" && key != "message") error[key] = value;
  }
  Json payload = {{"ok", false}};
  payload["error"] = std::move(error);
  std::string line;
  append_canonical(payload, &line);
  // A message or detail may quote bytes that are no UTF-8.
  if (simdjson::validate_utf8(line)) return line;
  return payload.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace satchel
