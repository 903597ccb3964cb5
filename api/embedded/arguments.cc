#include "api/embedded/arguments.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "api/embedded/errors.h"
#include "api/json_text.h"
#include "api/utf8.h"

namespace satchel::embedded {
namespace {

using std::chrono::microseconds;
constexpr microseconds kShortestTtl = std::chrono::milliseconds(1);
constexpr microseconds kLongestTtl = std::chrono::hours(24 * 36'500);

/// The document, or its error under the name of the argument that held it.
Document checked(const JsonInput& input, std::string_view field) {
  if (input.document().ok()) return *input.document();
  auto error = input.document().error();
  error.details["field"] = field;
  throw error;
}

}  // namespace

void check_user(std::string_view user) {
  if (user.empty() || user.size() > 1024 || !is_utf8(user) ||
      has_control_character(user)) {
    throw invalid("user",
                  "a user is 1 to 1,024 bytes of UTF-8 without control "
                  "characters");
  }
}

void check_kind(std::string_view kind) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto inner = [&](char c) {
    return lower(c) || (c >= '0' && c <= '9') || c == '-';
  };
  if (kind.empty() || kind.size() > 32 || !lower(kind[0]) ||
      !std::all_of(kind.begin(), kind.end(), inner)) {
    throw invalid("kind",
                  "a kind is 1 to 32 characters of a-z, 0-9 and '-' and begins "
                  "with a letter, for example \"research\"");
  }
}

void check_writer(std::string_view writer) {
  if (writer.size() > 256 || !is_utf8(writer)) {
    throw invalid("writer", "a writer is at most 256 bytes of UTF-8");
  }
}

void check_request_id(std::string_view id) {
  const auto printable = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (id.size() > 128 || !std::all_of(id.begin(), id.end(), printable)) {
    throw invalid("request_id",
                  "a request_id is 1 to 128 printable ASCII characters");
  }
}

void check_ttl(const Ttl& ttl) {
  if (ttl.kind() != Ttl::Kind::duration) return;
  if (ttl.duration() < kShortestTtl || ttl.duration() > kLongestTtl) {
    throw invalid("ttl", "a ttl is 1 millisecond to 36,500 days");
  }
}

void check_limit(std::uint32_t limit) {
  if (limit < 1 || limit > 1000) {
    throw invalid("limit", "a limit is 1 to 1,000");
  }
}

Document checked_state(const JsonInput& input, std::size_t max_bytes) {
  auto state = checked(input, "state");
  if (auto fits = check_state(state); !fits) throw fits.error();
  if (state.size_bytes() > max_bytes) {
    throw state_too_large(state.size_bytes(), max_bytes);
  }
  return state;
}

Document checked_ops(const JsonInput& input) { return checked(input, "ops"); }

}  // namespace satchel::embedded
