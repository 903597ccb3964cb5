#include "satchel/objects.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace satchel {
namespace {

/// `text` as a JSON string. Bytes that are no UTF-8 cannot come from a store;
/// should they, they are replaced so that the object stays readable.
std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Appends members to an object that already has one.
class Members {
 public:
  explicit Members(std::string head) : text_(std::move(head)) {}

  Members& raw(std::string_view name, std::string_view json) {
    if (text_.back() != '{') text_ += ',';
    text_ += '"';
    text_ += name;
    text_ += "\":";
    text_ += json;
    return *this;
  }
  Members& text(std::string_view name, std::string_view value) {
    return raw(name, json_string(value));
  }
  Members& number(std::string_view name, std::uint64_t value) {
    return raw(name, std::to_string(value));
  }
  Members& time(std::string_view name, Time value) {
    return raw(name, '"' + to_rfc3339(value) + '"');
  }

  std::string close() && { return std::move(text_) + '}'; }

 private:
  std::string text_;
};

Members ok_object() { return Members("{\"ok\":true"); }

void add_info(Members& m, const HandleInfo& info) {
  m.text("handle", info.handle)
      .text("kind", info.kind)
      .number("version", info.version)
      .time("created_at", info.created_at)
      .time("updated_at", info.updated_at);
  if (info.expires_at)
    m.time("expires_at", *info.expires_at);
  else
    m.raw("expires_at", "null");
  m.text("last_writer", info.last_writer);
}

void add_version(Members& m, const VersionInfo& version) {
  m.number("version", version.version)
      .time("at", version.at)
      .text("writer", version.writer)
      .text("what", name(version.what));
}

/// A JSON array of what `object` makes of each item.
template <class Items, class Object>
std::string array_of(const Items& items, Object object) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    Members m("{");
    object(m, item);
    out += std::move(m).close();
  }
  return out + ']';
}

}  // namespace

std::string to_rfc3339(Time time) {
  using namespace std::chrono;
  constexpr Time kFirst{sys_days{year{0} / January / 1}};
  constexpr Time kLast{sys_days{year{10'000} / January / 1} - microseconds{1}};
  time = std::clamp(time, kFirst, kLast);
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss<microseconds> clock{time - day};
  std::array<char, 64> out;
  const int n = std::snprintf(
      out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()),
      static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()),
      static_cast<int>(clock.subseconds().count()));
  return std::string(out.data(), static_cast<std::size_t>(n));
}

std::string to_object(const Snapshot& snapshot) {
  Members m = ok_object();
  add_info(m, snapshot);
  if (snapshot.state) m.raw("state", snapshot.state->text());
  if (snapshot.path) m.text("path", *snapshot.path);
  return std::move(m).close();
}

std::string to_object(const ListPage& page) {
  Members m = ok_object();
  m.raw("handles", array_of(page.handles, add_info));
  if (!page.cursor.empty()) m.text("cursor", page.cursor);
  return std::move(m).close();
}

std::string to_object(const History& history) {
  Members m = ok_object();
  m.text("handle", history.handle)
      .number("oldest", history.oldest)
      .raw("versions", array_of(history.versions, add_version));
  return std::move(m).close();
}

std::string to_object(const Changes& changes) {
  Members m = ok_object();
  m.text("handle", changes.handle)
      .number("since", changes.since)
      .number("version", changes.version);
  switch (changes.kind) {
    case Changes::Kind::changes:
      m.raw("changes", array_of(changes.entries,
                                [](Members& entry, const Changes::Entry& e) {
                                  add_version(entry, e);
                                  entry.raw("ops", e.ops.text());
                                }));
      break;
    case Changes::Kind::replaced:
      m.raw("replaced", changes.state.text());
      break;
    case Changes::Kind::too_old:
      m.raw("too_old", "true")
          .number("oldest", changes.oldest)
          .raw("state", changes.state.text());
      break;
  }
  return std::move(m).close();
}

std::string revoked_object(std::string_view handle) {
  Members m = ok_object();
  m.text("handle", handle);
  return std::move(m).close();
}

std::string swept_object(std::uint64_t removed) {
  Members m = ok_object();
  m.number("removed", removed);
  return std::move(m).close();
}

std::string to_object(std::string_view key, const KvEntry& entry) {
  Members m = ok_object();
  m.text("key", key)
      .raw("value", entry.value.text())
      .time("expires_at", entry.expires_at);
  return std::move(m).close();
}

std::string kv_set_object(std::string_view key, Time expires_at) {
  Members m = ok_object();
  m.text("key", key).time("expires_at", expires_at);
  return std::move(m).close();
}

std::string kv_has_object(bool exists) {
  Members m = ok_object();
  m.raw("exists", exists ? "true" : "false");
  return std::move(m).close();
}

std::string kv_removed_object(bool removed) {
  Members m = ok_object();
  m.raw("removed", removed ? "true" : "false");
  return std::move(m).close();
}

std::string kv_removed_object(std::uint64_t removed) {
  Members m = ok_object();
  m.number("removed", removed);
  return std::move(m).close();
}

std::string kv_counter_object(std::string_view key, std::int64_t value) {
  Members m = ok_object();
  m.text("key", key).raw("value", std::to_string(value));
  return std::move(m).close();
}

std::string to_object(const KvPage& page) {
  std::string keys = "[";
  for (const auto& each : page.keys) {
    if (keys.size() > 1) keys += ',';
    keys += json_string(each.key);
  }
  Members m = ok_object();
  m.raw("keys", keys + ']');
  if (!page.cursor.empty()) m.text("cursor", page.cursor);
  return std::move(m).close();
}

std::string to_object(const std::map<std::string, KvEntry>& entries) {
  std::string values = "{";
  for (const auto& [key, entry] : entries) {
    if (values.size() > 1) values += ',';
    values += json_string(key) + ':' + entry.value.text();
  }
  Members m = ok_object();
  m.raw("values", values + '}');
  return std::move(m).close();
}

std::string to_object(const KvUsage& usage) {
  Members m = ok_object();
  m.text("user", usage.user)
      .text("app", usage.app)
      .number("used_bytes", usage.used_bytes)
      .number("limit_bytes", usage.limit_bytes)
      .number("key_count", usage.key_count);
  return std::move(m).close();
}

Json to_json(const Snapshot& snapshot) {
  Json out = {{"handle", snapshot.handle},
              {"kind", snapshot.kind},
              {"version", snapshot.version},
              {"created_at", to_rfc3339(snapshot.created_at)},
              {"updated_at", to_rfc3339(snapshot.updated_at)},
              {"expires_at", nullptr},
              {"last_writer", snapshot.last_writer}};
  if (snapshot.expires_at) out["expires_at"] = to_rfc3339(*snapshot.expires_at);
  if (snapshot.state) out["state"] = snapshot.state->json();
  if (snapshot.path) out["path"] = *snapshot.path;
  return out;
}

}  // namespace satchel
