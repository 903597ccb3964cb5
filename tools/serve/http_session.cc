#include "tools/serve/http_session.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <type_traits>
#include <utility>

#include "tools/output.h"

namespace satchel::tools::serve {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using std::chrono::seconds;

constexpr std::uint32_t kMaxHeadBytes = 32 * 1024;
/// A body up to this is read before its sender is known: one trip to the pool
/// then does for both.
constexpr std::uint64_t kSmallBody = 64 * 1024;
constexpr std::size_t kFirstRead = 1024;
/// Of what was read and not yet parsed. (Beast's limits do not count the
/// extensions of chunks, nor trailers.)
constexpr std::size_t kMaxBuffer = kMaxHeadBytes + kSmallBody;
/// What a connection may hold on to between requests.
constexpr std::size_t kKeptBuffer = 8 * 1024;
/// What is read and thrown away after a refusal, so that it arrives.
constexpr std::uint64_t kMaxDrain = 16 << 20;
constexpr seconds kDrainTime{5};
constexpr seconds kKeyTime{7};

// GCC 12 compiles co_await wrongly inside conditions and larger expressions:
// here it stands alone, or initializes a variable.

using Parser = http::request_parser<http::string_body>;

HttpHead head_of(const Parser& parser, bool tls) {
  const auto& request = parser.get();
  const auto view = [](auto text) {
    return std::string_view(text.data(), text.size());
  };
  HttpHead head;
  head.method = view(request.method_string());
  head.target = view(request.target());
  head.http11 = request.version() >= 11;
  head.tls = tls;
  for (const auto& field : request) {
    head.headers.emplace_back(view(field.name_string()), view(field.value()));
  }
  return head;
}

/// Runs `work` on the pool; the coroutine goes on where it was.
template <class Work>
asio::awaitable<std::invoke_result_t<Work>> on_pool(Hub& hub, Work work) {
  using Out = std::invoke_result_t<Work>;
  auto out = co_await asio::co_spawn(
      hub.pool,
      [work = std::move(work)]() mutable -> asio::awaitable<Out> {
        co_return work();
      },
      asio::use_awaitable);
  co_return out;
}

/// Until the key set was read again, or could not be.
asio::awaitable<void> keys_refreshed(Hub& hub) {
  struct Wait {
    std::shared_ptr<asio::io_context> io;
    asio::steady_timer timer;
  };
  auto wait = std::make_shared<Wait>(
      Wait{hub.io, asio::steady_timer(*hub.io, kKeyTime)});
  const bool asked = hub.authenticator.refresh_keys(
      [wait] { asio::post(*wait->io, [wait] { wait->timer.cancel(); }); });
  if (!asked || hub.stopping) co_return;
  hub.key_waits.insert(&wait->timer);
  co_await wait->timer.async_wait(kAwait);
  hub.key_waits.erase(&wait->timer);
}

/// The answer, whatever happens.
HttpReply answered(Hub& hub, const Plan& plan, const HttpHead& head,
                   Parser& parser, const Caller& caller) {
  try {
    return hub.router.answer(plan, head, std::move(parser.get().body()),
                             caller);
  } catch (const std::exception& error) {
    warn(std::string("a request failed: ") + error.what());
    return hub.router.failure(plan, 500, "the request could not be answered");
  }
}

template <class Stream>
class Session {
 public:
  Session(Hub& hub, Stream& stream,
          std::list<Hub::Connection>::iterator connection)
      : hub_(hub), stream_(stream), connection_(connection) {}

  asio::awaitable<void> run() {
    for (bool on = true; on;) {
      on = co_await wait_for_request();
      if (on) on = co_await one_request();
    }
  }

 private:
  static constexpr bool kTls = !std::is_same_v<Stream, beast::tcp_stream>;

  void expires(seconds time) {
    beast::get_lowest_layer(stream_).expires_after(time);
  }

  asio::awaitable<bool> wait_for_request() {
    if (buffer_.size()) co_return true;
    if (hub_.stopping) co_return false;
    if (buffer_.capacity() > kKeptBuffer) buffer_.shrink_to_fit();
    expires(hub_.settings.idle_time);
    connection_->idle = true;
    const auto [error, size] =
        co_await stream_.async_read_some(buffer_.prepare(kFirstRead), kAwait);
    connection_->idle = false;
    buffer_.commit(size);
    co_return !error;
  }

  /// Whether the connection goes on.
  asio::awaitable<bool> one_request() {
    Parser parser;
    parser.header_limit(kMaxHeadBytes);
    parser.body_limit(boost::none);
    expires(hub_.settings.head_time);
    const auto [error, size] =
        co_await http::async_read_header(stream_, buffer_, parser, kAwait);
    if (error) {
      co_await refuse_unreadable(error);
      co_return false;
    }
    const HttpHead head = head_of(parser, kTls);
    auto [reply, whole] = co_await reply_to(parser, head);
    hub_.router.finish(head, reply);
    const bool keep = whole && parser.get().keep_alive() && !hub_.stopping;
    const bool sent = co_await send(std::move(reply), head.method == "HEAD",
                                    keep, parser.get().version());
    if (sent && !whole) co_await drain();
    co_return sent&& keep;
  }

  struct Outcome {
    HttpReply reply;
    /// The request was read to its end.
    bool whole = true;
  };

  asio::awaitable<Outcome> reply_to(Parser& parser, const HttpHead& head) {
    const auto length = parser.content_length();
    const bool bare = parser.is_done();
    Plan plan = hub_.router.plan(head);
    if (plan.reply) co_return Outcome{std::move(*plan.reply), bare};
    if (length && *length > hub_.settings.max_body_bytes) {
      co_return Outcome{too_large(plan, *length), false};
    }
    const bool expects = !head.all("expect").empty();
    const bool small = bare || (length && *length <= kSmallBody && !expects);
    if (small) {
      auto failure = co_await read_body(plan, parser);
      if (failure) co_return Outcome{std::move(*failure), false};
      // Who asks whether the process lives waits for no other call.
      if (plan.route == Route::live) {
        co_return Outcome{hub_.router.answer(plan, head, {}, {}), true};
      }
      auto reply = co_await answer_small(plan, head, parser);
      co_return Outcome{std::move(reply), true};
    }
    auto outcome = co_await answer_large(plan, head, parser, expects);
    co_return outcome;
  }

  /// Who sends it and what answers it, in one trip.
  asio::awaitable<HttpReply> answer_small(const Plan& plan,
                                          const HttpHead& head,
                                          Parser& parser) {
    for (const bool again : {false, true}) {
      auto reply =
          co_await on_pool(hub_, [&, again]() -> std::optional<HttpReply> {
            auto admission = hub_.router.admit(plan, head, again);
            if (std::holds_alternative<NeedsKeys>(admission)) return {};
            if (auto* refusal = std::get_if<HttpReply>(&admission)) {
              return std::move(*refusal);
            }
            return answered(hub_, plan, head, parser,
                            std::get<Caller>(admission));
          });
      if (reply) co_return std::move(*reply);
      co_await keys_refreshed(hub_);
    }
    co_return hub_.router.failure(plan, 500,
                                  "the request could not be answered");
  }

  asio::awaitable<Router::Admission> admit(const Plan& plan,
                                           const HttpHead& head) {
    const auto ask = [&](bool again) {
      return on_pool(hub_, [this, &plan, &head, again] {
        return hub_.router.admit(plan, head, again);
      });
    };
    auto admission = co_await ask(false);
    if (!std::holds_alternative<NeedsKeys>(admission)) co_return admission;
    co_await keys_refreshed(hub_);
    admission = co_await ask(true);
    co_return admission;
  }

  /// First who sends it, then the body.
  asio::awaitable<Outcome> answer_large(const Plan& plan, const HttpHead& head,
                                        Parser& parser, bool expects) {
    auto admission = co_await admit(plan, head);
    if (auto* refusal = std::get_if<HttpReply>(&admission)) {
      co_return Outcome{std::move(*refusal), false};
    }
    if (expects) {
      expires(hub_.settings.head_time);
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      const auto [error, size] = co_await asio::async_write(
          stream_, asio::buffer(kContinue.data(), kContinue.size()), kAwait);
      if (error) co_return Outcome{text_reply(400, "cut short"), false};
    }
    auto failure = co_await read_body(plan, parser);
    if (failure) co_return Outcome{std::move(*failure), false};
    auto reply = co_await on_pool(hub_, [&] {
      return answered(hub_, plan, head, parser, std::get<Caller>(admission));
    });
    co_return Outcome{std::move(reply), true};
  }

  /// Reads the rest of the request; a reply when it cannot be read.
  asio::awaitable<std::optional<HttpReply>> read_body(const Plan& plan,
                                                      Parser& parser) {
    if (parser.is_done()) co_return std::nullopt;
    parser.body_limit(hub_.settings.max_body_bytes);
    expires(hub_.settings.body_time);
    const auto [error, size] =
        co_await http::async_read(stream_, buffer_, parser, kAwait);
    if (!error) co_return std::nullopt;
    if (error == http::error::body_limit) {
      co_return too_large(plan, hub_.settings.max_body_bytes + 1);
    }
    if (error == beast::error::timeout) {
      co_return hub_.router.failure(plan, 408, "the body took too long");
    }
    co_return hub_.router.failure(plan, 400, "the body cannot be read");
  }

  HttpReply too_large(const Plan& plan, std::uint64_t bytes) const {
    return hub_.router.too_large(plan, bytes, hub_.settings.max_body_bytes);
  }

  asio::awaitable<void> refuse_unreadable(beast::error_code error) {
    static const auto& http_errors =
        http::make_error_code(http::error::bad_target).category();
    const bool gone = error.category() != http_errors ||
                      error == http::error::end_of_stream ||
                      error == http::error::partial_message;
    if (gone) co_return;
    auto reply = error == http::error::header_limit
                     ? text_reply(431, "the headers are too long")
                     : text_reply(400, "this is no HTTP request");
    const bool sent = co_await send(std::move(reply), false, false, 11);
    if (sent) co_await drain();
  }

  asio::awaitable<bool> send(HttpReply reply, bool head_only, bool keep,
                             unsigned version) {
    http::response<http::string_body> response;
    response.version(version);
    response.result(static_cast<unsigned>(reply.status));
    response.keep_alive(keep);
    for (const auto& [name, value] : reply.headers) response.set(name, value);
    if (!reply.body.empty()) {
      response.set(http::field::content_type, reply.content_type);
    }
    const auto size = reply.body.size();
    if (!head_only) response.body() = std::move(reply.body);
    if (reply.status != 204) response.content_length(size);
    expires(hub_.settings.body_time);
    if (head_only) {
      http::response<http::empty_body> bare(std::move(response.base()));
      const auto [error, written] =
          co_await http::async_write(stream_, bare, kAwait);
      co_return !error;
    }
    const auto [error, written] =
        co_await http::async_write(stream_, response, kAwait);
    co_return !error;
  }

  /// A peer that still sends when we close would lose the reply: reads on for
  /// a while.
  asio::awaitable<void> drain() {
    auto& socket = beast::get_lowest_layer(stream_).socket();
    boost::system::error_code ignored;
    if (!kTls) socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    expires(kDrainTime);
    std::uint64_t drained = 0;
    while (drained < kMaxDrain) {
      buffer_.clear();
      const auto [error, size] =
          co_await beast::get_lowest_layer(stream_).async_read_some(
              buffer_.prepare(16384), kAwait);
      if (error) break;
      drained += size;
    }
    buffer_.clear();
  }

  Hub& hub_;
  Stream& stream_;
  const std::list<Hub::Connection>::iterator connection_;
  beast::flat_buffer buffer_{kMaxBuffer};
};

/// Leaves the hub at the end of a connection, however it ends.
struct Membership {
  Hub& hub;
  std::list<Hub::Connection>::iterator connection;
  ~Membership() { hub.leave(connection); }
};

}  // namespace

void Hub::stop() {
  stopping = true;
  for (auto& connection : connections) {
    if (connection.idle) connection.stream->cancel();
  }
}

void Hub::cut_off() {
  for (auto& connection : connections) connection.stream->close();
  for (auto* wait : key_waits) wait->cancel();
}

std::list<Hub::Connection>::iterator Hub::enter(beast::tcp_stream& stream) {
  return connections.insert(connections.end(), {&stream});
}

void Hub::leave(std::list<Connection>::iterator connection) {
  connections.erase(connection);
  if (stopping && connections.empty()) farewell.cancel();
}

asio::awaitable<void> serve_plain(Hub& hub, asio::ip::tcp::socket socket) {
  beast::tcp_stream stream(std::move(socket));
  const Membership here{hub, hub.enter(stream)};
  Session<beast::tcp_stream> session(hub, stream, here.connection);
  co_await session.run();
}

asio::awaitable<void> serve_tls(Hub& hub, asio::ip::tcp::socket socket,
                                asio::ssl::context& context) {
  beast::ssl_stream<beast::tcp_stream> stream(std::move(socket), context);
  auto& lowest = beast::get_lowest_layer(stream);
  const Membership here{hub, hub.enter(lowest)};
  lowest.expires_after(hub.settings.head_time);
  const auto [error] =
      co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
  if (error) co_return;
  Session<beast::ssl_stream<beast::tcp_stream>> session(hub, stream,
                                                        here.connection);
  co_await session.run();
  lowest.expires_after(kDrainTime);
  co_await stream.async_shutdown(kAwait);
}

}  // namespace satchel::tools::serve
