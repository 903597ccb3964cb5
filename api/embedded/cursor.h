#pragma once
// Cursors of lists: opaque to callers, bound to user and query, authenticated
// with the store's secret.

#include <optional>
#include <string>
#include <string_view>

#include "storage/user_views.h"

namespace satchel::embedded {

/// What a cursor belongs to. The limit is not part of it.
struct ListQuery {
  std::string_view user;
  std::string_view kind;
  bool include_expired = false;
};

/// Continues after `position`.
std::string make_cursor(std::string_view secret, const ListQuery& query,
                        const storage::UserView::Position& position);

/// Throws invalid_input(cursor) unless make_cursor() made it for this query.
storage::UserView::Position read_cursor(std::string_view secret,
                                        const ListQuery& query,
                                        std::string_view cursor);

}  // namespace satchel::embedded
