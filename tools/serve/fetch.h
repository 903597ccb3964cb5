#pragma once
// Reading one document from the web, for key sets.

#include <chrono>
#include <string>

namespace satchel::tools::serve {

/// Throws invalid_input(jwks) unless `url` is https, or http of this machine by
/// a loopback name, and has no user, password or fragment.
void check_fetch_url(const std::string& url);

struct FetchLimits {
  std::size_t bytes = std::size_t{512} << 10;
  std::chrono::seconds time{5};
};

/// The body of a 200 to GET of a checked URL; https with the system's
/// certificates and proxy, redirects not followed. Throws backend_error whose
/// message names no part of the URL.
std::string fetch(const std::string& url, const FetchLimits& limits = {});

}  // namespace satchel::tools::serve
