#pragma once
// Patch ops in their wire form, ready for HandleStore::patch. Each function
// returns one op; a list of ops is a JSON array of them.
//
// A path is dotted ("profile.tags": object keys only; "" is the root) or, when
// it begins with '/', a JSON Pointer, which also reaches array items and keys
// that hold dots, are empty or begin with '/'. Every segment must exist unless
// the op is wrapped in create(): then missing objects are made, a missing
// target becomes [] for append and add_to_set and 0 for increment. `key` is
// always literal. Nothing here fails; what cannot be applied is refused by
// HandleStore::patch with patch_error, and nothing of the list is applied.

#include <string_view>

#include "satchel/json.h"

namespace satchel::op {

/// Adds `value` at the end of the array at `path`.
Json append(std::string_view path, Json value);
/// Sets member `key` of the object at `path`.
Json set_key(std::string_view path, std::string_view key, Json value);
/// Removes member `key` of the object at `path`; absent is no change.
Json del_key(std::string_view path, std::string_view key);
/// Sets each member of `mapping` in the object at `path`; null is stored.
Json merge(Json mapping, std::string_view path = "");
/// Adds `by`, an integer or a real, to the number at member `key` of `path`.
Json increment(std::string_view path, std::string_view key, Json by);
/// Appends `value` unless an equal one (same canonical text) is there.
Json add_to_set(std::string_view path, Json value);
/// Removes every item equal to `value` from the array at `path`.
Json remove_value(std::string_view path, Json value);
/// The same op with missing objects on its path created. del_key and
/// remove_value create nothing: removing from what is missing is no change.
Json create(Json op);

}  // namespace satchel::op
