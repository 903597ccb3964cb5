#include "api/embedded/kv_arguments.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/embedded/errors.h"
#include "api/json_text.h"
#include "api/utf8.h"

namespace satchel::embedded {
namespace {

constexpr std::size_t kMaxAppBytes = 256;
constexpr std::size_t kMaxMget = 100;

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') ||
         std::string_view("_.:-/").find(c) != std::string_view::npos;
}

/// Why `text` cannot be a key, or the beginning of one; empty when it can.
std::string wrong_with(std::string_view text, const Options& options) {
  if (text.size() > options.kv_max_key_bytes) {
    return "must be at most " + std::to_string(options.kv_max_key_bytes) +
           " bytes";
  }
  if (!std::all_of(text.begin(), text.end(), is_key_character)) {
    return "may hold letters, digits and _ . : - / only";
  }
  return {};
}

/// Part of a key that may be shown back.
std::string shown(std::string_view key) {
  constexpr std::size_t kMost = 64;
  std::string part(key.substr(0, kMost));
  // A character must not be cut in two.
  while (!part.empty() && !is_utf8(part)) part.pop_back();
  return part;
}

/// In the largest unit that says it exactly.
std::string shown(std::chrono::milliseconds time) {
  using namespace std::chrono_literals;
  if (time % 24h == 0ms) return std::to_string(time / 24h) + " days";
  if (time % 1s == 0ms) return std::to_string(time / 1s) + " seconds";
  return std::to_string(time.count()) + " milliseconds";
}

}  // namespace

void check_app(std::string_view app) {
  if (app.empty() || app.size() > kMaxAppBytes || !is_utf8(app) ||
      has_control_character(app) || has_white_space(app)) {
    throw invalid("app",
                  "an app is 1 to 256 bytes of UTF-8 without white space and "
                  "control characters");
  }
}

void check_key(std::string_view key, const Options& options) {
  const auto reason =
      key.empty() ? std::string("must not be empty") : wrong_with(key, options);
  if (reason.empty()) return;
  auto error = invalid("key", "the key " + reason);
  error.details["key"] = shown(key);
  error.details["reason"] = reason;
  throw error;
}

void check_prefix(std::string_view prefix, const Options& options) {
  const auto reason = wrong_with(prefix, options);
  if (!reason.empty()) throw invalid("prefix", "the prefix " + reason);
}

void check_after(const KvKeysOptions& keys, const Options& options) {
  const auto reason = wrong_with(keys.after, options);
  if (!reason.empty()) throw invalid("after", "after " + reason);
  if (!keys.cursor.empty()) {
    throw invalid("after", "after and cursor exclude each other; give one");
  }
}

void check_mget(const std::vector<std::string>& keys, const Options& options) {
  if (keys.size() > kMaxMget) {
    throw invalid("keys", "mget takes at most 100 keys, not " +
                              std::to_string(keys.size()) +
                              "; ask in several calls");
  }
  for (const auto& key : keys) check_key(key, options);
}

void check_step(std::int64_t by) {
  if (by < -kMaxCounter || by > kMaxCounter) {
    throw invalid("by", "the step must be an integer within ±(2^53 - 1)");
  }
}

std::uint64_t checked_kv_ttl(const Ttl& ttl, const Options& options) {
  using std::chrono::milliseconds;
  const auto most = options.kv_max_ttl;
  if (ttl.kind() == Ttl::Kind::duration && ttl.duration() >= milliseconds(1) &&
      ttl.duration() <= most) {
    return static_cast<std::uint64_t>(ttl.duration().count());
  }
  const auto reason = ttl.kind() != Ttl::Kind::duration
                          ? std::string("is required: every entry expires")
                      : ttl.duration() < milliseconds(1)
                          ? std::string("must be at least a millisecond")
                          : "must be at most " + shown(most) +
                                "; keep what lives longer in a handle";
  auto error = invalid("ttl", "the ttl " + reason);
  error.details["reason"] = reason;
  throw error;
}

Document checked_value(const JsonInput& input, std::string_view field,
                       const Options& options) {
  const auto refuse = [&](Error error) {
    error.details["field"] = field;
    throw error;
  };
  if (!input.document().ok()) refuse(input.document().error());
  const auto& value = *input.document();
  if (auto fits = check_depth(value); !fits) refuse(fits.error());
  const auto limit = options.kv_max_value_bytes;
  if (value.size_bytes() > limit) {
    refuse(value_too_large(value.size_bytes(), limit));
  }
  return value;
}

Error value_too_large(std::uint64_t size, std::uint64_t limit) {
  return {ErrorCode::value_too_large,
          "the value has " + std::to_string(size) + " bytes, and " +
              std::to_string(limit) +
              " are allowed; split it, or keep it in a handle",
          {{"valueBytes", size}, {"limitBytes", limit}}};
}

Error kv_quota_exceeded(std::uint64_t used, std::uint64_t needed,
                        std::uint64_t limit) {
  return {ErrorCode::quota_exceeded,
          "this user and app hold " + std::to_string(used) +
              " bytes and would hold " + std::to_string(needed) + ", and " +
              std::to_string(limit) +
              " are allowed; delete keys, or keep larger things in a handle",
          {{"held", used},
           {"limit", limit},
           {"usedBytes", used},
           {"limitBytes", limit}}};
}

Error type_mismatch(std::string_view key, std::string_view actual) {
  return {
      ErrorCode::type_mismatch,
      "the key holds no counter, which is an integer, but a value of type " +
          std::string(actual),
      {{"key", key}, {"actual", actual}}};
}

Error condition_failed(std::string_view what) {
  return {ErrorCode::condition_failed,
          std::string(what) + ", so nothing was set; read it and decide again"};
}

Error counter_out_of_range() {
  return invalid("by",
                 "the counter would leave ±(2^53 - 1); nothing was changed");
}

}  // namespace satchel::embedded
