#pragma once
// Cursors: opaque to callers, bound to what was asked, authenticated with the
// store's secret.

#include <optional>
#include <string>
#include <string_view>

#include "storage/user_views.h"

namespace satchel::embedded {

/// Continues after `position`; `query` says, injectively, whose cursor it is
/// and over what.
std::string make_cursor(std::string_view secret, std::string_view query,
                        std::string_view position);

/// The position. Throws invalid_input(cursor) unless make_cursor() made the
/// cursor for this query.
std::string read_cursor(std::string_view secret, std::string_view query,
                        std::string_view cursor);

/// What a cursor over handles belongs to. The limit is not part of it.
struct ListQuery {
  std::string_view user;
  std::string_view kind;
  bool include_expired = false;
};
std::string make_cursor(std::string_view secret, const ListQuery& query,
                        const storage::UserView::Position& position);
storage::UserView::Position read_cursor(std::string_view secret,
                                        const ListQuery& query,
                                        std::string_view cursor);

}  // namespace satchel::embedded
