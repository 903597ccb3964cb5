#pragma once
// The rules of arguments. Each function throws invalid_input with the field's
// name unless its rule is kept.

#include <cstdint>
#include <string_view>

#include "satchel/document.h"
#include "satchel/ttl.h"

namespace satchel::embedded {

void check_user(std::string_view user);
void check_kind(std::string_view kind);
void check_writer(std::string_view writer);
/// Empty is none.
void check_request_id(std::string_view id);
void check_ttl(const Ttl& ttl);
void check_limit(std::uint32_t limit);

/// The object in `input`, not over `max_bytes`.
Document checked_state(const JsonInput& input, std::size_t max_bytes);
/// The JSON in `input`, whatever it is.
Document checked_ops(const JsonInput& input);

}  // namespace satchel::embedded
