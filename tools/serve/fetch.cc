#include "tools/serve/fetch.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <exception>

#include "satchel/error.h"
#include "tools/serve/hosts.h"

namespace satchel::tools::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;

Error refused(const std::string& what) {
  return {ErrorCode::invalid_input,
          "the key set's URL " + what,
          {{"field", "jwks"}}};
}

Error failed(const std::string& what) {
  return {ErrorCode::backend_error, "the key set cannot be fetched: " + what};
}

template <class Stream>
asio::awaitable<std::string> exchange(Stream& stream, const Url& url,
                                      std::size_t limit) {
  http::request<http::empty_body> request(http::verb::get, url.target, 11);
  request.set(http::field::host, url.authority);
  request.set(http::field::accept,
              "application/json, application/jwk-set+json");
  request.set(http::field::user_agent, "satchel");
  request.set(http::field::connection, "close");
  co_await http::async_write(stream, request, use_awaitable);
  http::response_parser<http::string_body> parser;
  parser.body_limit(limit);
  beast::flat_buffer buffer;
  co_await http::async_read(stream, buffer, parser, use_awaitable);
  if (parser.get().result() != http::status::ok) {
    throw failed("its server answered " +
                 std::to_string(parser.get().result_int()));
  }
  co_return std::move(parser.get().body());
}

asio::awaitable<std::string> get(const Url& url, const FetchLimits& limits) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  const auto endpoints =
      co_await resolver.async_resolve(url.host, url.port, use_awaitable);
  if (!url.tls) {
    for (const auto& endpoint : endpoints) {
      if (!endpoint.endpoint().address().is_loopback()) {
        throw failed("without https only this machine is asked");
      }
    }
  }
  beast::tcp_stream plain(executor);
  plain.expires_after(limits.time);
  co_await plain.async_connect(endpoints, use_awaitable);
  std::string body;
  if (!url.tls) {
    body = co_await exchange(plain, url, limits.bytes);
    co_return body;
  }

  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_default_verify_paths();
  context.set_verify_mode(asio::ssl::verify_peer);
  beast::ssl_stream<beast::tcp_stream> secure(std::move(plain), context);
  secure.set_verify_callback(asio::ssl::host_name_verification(url.host));
  SSL_set_tlsext_host_name(secure.native_handle(), url.host.c_str());
  co_await secure.async_handshake(asio::ssl::stream_base::client,
                                  use_awaitable);
  body = co_await exchange(secure, url, limits.bytes);
  co_return body;
}

}  // namespace

Url parse_fetch_url(const std::string& text) {
  Url url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    throw refused("begins with https://");
  }
  if (rest.find_first_of(" #\t\r\n") != rest.npos) {
    throw refused("has a fragment or a blank");
  }
  const auto slash = rest.find_first_of("/?");
  url.authority = rest.substr(0, slash);
  url.target = slash == rest.npos ? "/" : std::string(rest.substr(slash));
  if (url.target[0] == '?') url.target.insert(0, 1, '/');
  const auto place = parse_authority(url.authority);
  if (!place) throw refused("has no host, or more than a host and a port");
  url.host = place->host;
  url.port = place->port.empty() ? (url.tls ? "443" : "80") : place->port;
  if (url.host.starts_with('[')) {
    url.host = url.host.substr(1, url.host.size() - 2);
  }
  if (!url.tls && !is_loopback_name(place->host)) {
    throw refused("is https, or of this machine (http://127.0.0.1…)");
  }
  return url;
}

std::string fetch(const Url& url, const FetchLimits& limits) {
  asio::io_context io(1);
  std::string body;
  std::exception_ptr error;
  bool done = false;
  asio::co_spawn(io, get(url, limits),
                 [&](std::exception_ptr thrown, std::string text) {
                   error = thrown;
                   body = std::move(text);
                   done = true;
                 });
  io.run_for(limits.time + std::chrono::seconds(1));
  if (!done) throw failed("it takes too long");
  try {
    if (error) std::rethrow_exception(error);
  } catch (const boost::system::system_error& e) {
    if (e.code() == http::error::body_limit) throw failed("it is too large");
    throw failed(e.code().message());
  }
  return body;
}

}  // namespace satchel::tools::serve
