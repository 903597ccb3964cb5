#pragma once
// Results as the JSON objects that the program prints and servers send: one
// compact line each, {"ok":true,…}. Times are RFC 3339 UTC with microseconds;
// absent fields are left out, except expires_at, which is null for never. A
// state is copied as text, not parsed. (A failure's object is
// Error::to_payload.) All functions are pure and thread-safe.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "satchel/handle.h"
#include "satchel/kv.h"

namespace satchel {

/// 2026-07-28T09:30:00.000000Z. Years outside 0 to 9999 are clamped.
std::string to_rfc3339(Time time);

/// {"ok":true,handle,kind,version,…,"state"?,"path"?} of get, mint, save,
/// patch, touch and revert.
std::string to_object(const Snapshot& snapshot);
/// {"ok":true,"handles":[…],"cursor"?}
std::string to_object(const ListPage& page);
/// {"ok":true,handle,"oldest":N,"versions":[…]}
std::string to_object(const History& history);
/// {"ok":true,handle,since,version,…} and one of "changes", "replaced",
/// "too_old".
std::string to_object(const Changes& changes);
/// {"ok":true,"handle":…}
std::string revoked_object(std::string_view handle);
/// {"ok":true,"removed":N}
std::string swept_object(std::uint64_t removed);

// The same of key-value calls.

/// {"ok":true,"key","value","expires_at"}
std::string to_object(std::string_view key, const KvEntry& entry);
/// {"ok":true,"key","expires_at"}
std::string kv_set_object(std::string_view key, Time expires_at);
/// {"ok":true,"exists":B}
std::string kv_has_object(bool exists);
/// {"ok":true,"removed":B}, and of a prefix {"ok":true,"removed":N}
std::string kv_removed_object(bool removed);
std::string kv_removed_object(std::uint64_t removed);
/// {"ok":true,"key","value":N}
std::string kv_counter_object(std::string_view key, std::int64_t value);
/// {"ok":true,"keys":[…],"cursor"?}
std::string to_object(const KvPage& page);
/// {"ok":true,"values":{key:value}}
std::string to_object(const std::map<std::string, KvEntry>& entries);
/// {"ok":true,"user","app","used_bytes","limit_bytes","key_count"}
std::string to_object(const KvUsage& usage);

/// The same members as to_object's, as a tree and without "ok" (what
/// stale_write carries as `current`).
Json to_json(const Snapshot& snapshot);

}  // namespace satchel
