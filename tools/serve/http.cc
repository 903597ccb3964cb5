#include "tools/serve/http.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <csignal>
#include <utility>

#include "satchel/error.h"
#include "tools/output.h"
#include "tools/serve/http_session.h"
#include "tools/serve/last_moments.h"

namespace satchel::tools::serve {
namespace {

using asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Within which running requests are answered after a signal.
constexpr seconds kFarewell{4};
/// For what is left then.
constexpr milliseconds kLastMoments{600};
/// Descriptors that are not connections: the store's, our own.
constexpr std::size_t kOtherDescriptors = 512;

Error wrong_start(const std::string& message) {
  return {ErrorCode::invalid_input, message, {{"field", "arguments"}}};
}

tcp::endpoint resolved(asio::io_context& io, const std::string& host,
                       std::uint16_t port) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) return {address, port};
  tcp::resolver resolver(io);
  const auto found =
      host == "localhost"
          ? resolver.resolve(tcp::v4(), host, std::to_string(port), error)
          : resolver.resolve(host, std::to_string(port), error);
  if (error || found.empty()) {
    throw wrong_start("--host is not an address of this machine");
  }
  return found.begin()->endpoint();
}

/// As many connections as there may be descriptors for.
std::size_t connection_limit(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const auto needed = static_cast<rlim_t>(wanted + kOtherDescriptors);
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < needed) {
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY
                         ? needed
                         : std::min(limit.rlim_max, needed);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed) {
    return wanted;
  }
  const std::size_t possible =
      limit.rlim_cur > 2 * kOtherDescriptors
          ? static_cast<std::size_t>(limit.rlim_cur) - kOtherDescriptors
          : static_cast<std::size_t>(limit.rlim_cur) / 2;
  warn("the limit of open files allows " + std::to_string(possible) +
       " connections; raise it (ulimit -n) for more");
  return possible;
}

std::unique_ptr<asio::ssl::context> tls_context(const HttpSettings& settings) {
  if (settings.tls_certificate.empty() && settings.tls_key.empty()) return {};
  if (settings.tls_certificate.empty() || settings.tls_key.empty()) {
    throw wrong_start("--tls-cert and --tls-key go together");
  }
  auto context =
      std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  context->set_options(
      asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
      asio::ssl::context::no_tlsv1_1 | asio::ssl::context::no_sslv3);
  // Idle connections give their buffers back.
  SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  boost::system::error_code error;
  context->use_certificate_chain_file(settings.tls_certificate, error);
  if (error) {
    throw wrong_start("--tls-cert cannot be used: " + error.message());
  }
  context->use_private_key_file(settings.tls_key, asio::ssl::context::pem,
                                error);
  if (!error && !SSL_CTX_check_private_key(context->native_handle())) {
    throw wrong_start("--tls-key is not the key of --tls-cert");
  }
  if (error) throw wrong_start("--tls-key cannot be used: " + error.message());
  return context;
}

}  // namespace

struct HttpServer::Impl {
  HttpSettings settings;
  std::unique_ptr<asio::ssl::context> tls;
  Hub hub;
  tcp::acceptor acceptor;
  asio::signal_set signals;
  tcp::endpoint bound;

  Impl(HttpSettings given, const Router& router, Authenticator& authenticator)
      : settings(std::move(given)),
        tls(tls_context(settings)),
        hub(settings, router, authenticator),
        acceptor(*hub.io),
        signals(*hub.io, SIGTERM, SIGINT, SIGHUP) {
    listen();
    settings.max_connections = connection_limit(settings.max_connections);
  }

  void listen() {
    const auto endpoint = resolved(*hub.io, settings.host, settings.port);
    if (!endpoint.address().is_loopback() && !tls && !settings.behind_proxy) {
      throw wrong_start(
          "--host is reachable from other machines, and tokens would travel in "
          "the clear: give --tls-cert and --tls-key, or --behind-proxy when a "
          "proxy in front speaks TLS");
    }
    boost::system::error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error)
      acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw Error(ErrorCode::backend_error,
                  "cannot listen on port " + std::to_string(settings.port) +
                      " of " + settings.host + ": " + error.message() +
                      "; --port chooses another, 0 any free one");
    }
    bound = acceptor.local_endpoint();
  }

  asio::awaitable<void> accept_all() {
    for (;;) {
      auto [error, socket] = co_await acceptor.async_accept(kAwait);
      if (hub.stopping) co_return;
      if (error) {
        // Out of descriptors, most likely: those in use come back.
        asio::steady_timer pause(*hub.io, milliseconds(50));
        co_await pause.async_wait(kAwait);
        continue;
      }
      if (hub.connections.size() >= settings.max_connections) {
        turn_away(std::move(socket));
        continue;
      }
      boost::system::error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      if (tls) {
        asio::co_spawn(*hub.io, serve_tls(hub, std::move(socket), *tls),
                       asio::detached);
      } else {
        asio::co_spawn(*hub.io, serve_plain(hub, std::move(socket)),
                       asio::detached);
      }
    }
  }

  void turn_away(tcp::socket socket) const {
    constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
        "Content-Length: 0\r\nConnection: close\r\n\r\n";
    if (!tls) {
      ::send(socket.native_handle(), kFull.data(), kFull.size(),
             MSG_DONTWAIT | MSG_NOSIGNAL);
    }
  }

  asio::awaitable<void> obey_signals(Authenticator& authenticator) {
    for (;;) {
      const auto [error, number] = co_await signals.async_wait(kAwait);
      if (error) co_return;
      if (number != SIGHUP) break;
      asio::post(hub.pool, [&authenticator] { authenticator.reload(); });
    }
    boost::system::error_code ignored;
    acceptor.close(ignored);
    hub.stop();
    if (hub.connections.empty()) co_return;
    hub.farewell.expires_after(kFarewell);
    co_await hub.farewell.async_wait(kAwait);
    hub.cut_off();
    // Calls that still wait for the disk.
    exit_after(kLastMoments);
  }
};

HttpServer::HttpServer(HttpSettings settings, const Router& router,
                       Authenticator& authenticator)
    : impl_(
          std::make_unique<Impl>(std::move(settings), router, authenticator)) {}

HttpServer::~HttpServer() = default;

std::string HttpServer::url() const {
  auto address = impl_->bound.address().to_string();
  if (impl_->bound.address().is_v6()) address = '[' + address + ']';
  return (impl_->tls ? "https://" : "http://") + address + ':' +
         std::to_string(impl_->bound.port()) + impl_->settings.path;
}

void HttpServer::run() {
  auto& hub = impl_->hub;
  asio::co_spawn(*hub.io, impl_->accept_all(), asio::detached);
  asio::co_spawn(*hub.io, impl_->obey_signals(hub.authenticator),
                 asio::detached);
  hub.io->run();
  hub.pool.join();
}

}  // namespace satchel::tools::serve
