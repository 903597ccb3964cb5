#pragma once
// One HTTP connection: requests one after the other, each within its limits.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <list>
#include <memory>
#include <set>

#include "tools/serve/http.h"

namespace satchel::tools::serve {

namespace asio = boost::asio;

/// Awaits an operation and gives its error instead of throwing it.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

/// What the connections of a server share. All of it belongs to the thread
/// that runs `io`.
struct Hub {
  Hub(const HttpSettings& given, const Router& routes, Authenticator& who)
      : settings(given),
        router(routes),
        authenticator(who),
        pool(given.workers) {}

  /// Ends the connections that wait for a request; the others end after the
  /// reply that they are at.
  void stop();
  /// Ends all connections, whatever they are at.
  void cut_off();

  struct Connection {
    boost::beast::tcp_stream* stream;
    /// Waits for the first byte of a request.
    bool idle = false;
  };
  std::list<Connection>::iterator enter(boost::beast::tcp_stream& stream);
  void leave(std::list<Connection>::iterator connection);

  const HttpSettings& settings;
  const Router& router;
  Authenticator& authenticator;
  /// Shared with who waits for the key set.
  const std::shared_ptr<asio::io_context> io =
      std::make_shared<asio::io_context>(1);
  asio::thread_pool pool;
  std::list<Connection> connections;
  /// Of requests that wait until the key set was read.
  std::set<asio::steady_timer*> key_waits;
  bool stopping = false;
  /// Runs out when, while stopping, the last connection has ended.
  asio::steady_timer farewell{*io, asio::steady_timer::time_point::max()};
};

/// Serve a connection to its end. `hub` outlives them.
asio::awaitable<void> serve_plain(Hub& hub, asio::ip::tcp::socket socket);
asio::awaitable<void> serve_tls(Hub& hub, asio::ip::tcp::socket socket,
                                asio::ssl::context& context);

}  // namespace satchel::tools::serve
