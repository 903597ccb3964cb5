#include "tools/serve/router.h"

#include <algorithm>
#include <utility>

#include "satchel/error.h"
#include "tools/serve/state_wire.h"

namespace satchel::tools::serve {
namespace {

constexpr std::string_view kStatePath = "/v1/state/";
/// Legacy revisions whose clients may send batches.
constexpr std::string_view kNewestBatchVersion = "2025-03-26";

HttpReply not_allowed(const char* methods) {
  auto reply = text_reply(405, "method not allowed");
  reply.headers.emplace_back("Allow", methods);
  return reply;
}

HttpReply of_wire(WireReply reply) {
  return {reply.status, std::move(reply.body)};
}

HttpReply of_error(const RpcError& error) {
  return {error.http_status, error.body()};
}

bool is_modern_anywhere(const Message& batch) {
  return std::any_of(batch.elements.begin(), batch.elements.end(),
                     [](const auto& element) {
                       const auto* m = std::get_if<Message>(&element);
                       return m && m->modern;
                     });
}

bool may_batch(const HttpHead& head, const Message& batch) {
  const auto version = head.one("mcp-protocol-version");
  const bool known =
      !version ||
      (*version <= kNewestBatchVersion &&
       std::find(std::begin(kLegacyVersions), std::end(kLegacyVersions),
                 *version) != std::end(kLegacyVersions));
  return known && !is_modern_anywhere(batch);
}

}  // namespace

Router::Router(std::string endpoint, HostRules hosts,
               Authenticator& authenticator, Protocol& protocol,
               Services& services)
    : endpoint_(std::move(endpoint)),
      hosts_(std::move(hosts)),
      well_known_(authenticator.settings(), endpoint_),
      authenticator_(authenticator),
      protocol_(protocol),
      services_(services) {}

Plan Router::plan(const HttpHead& head) const {
  const auto target = parse_target(head.target);
  if (!target) return {text_reply(400, "the target is not a path")};
  const bool get = head.method == "GET" || head.method == "HEAD";
  // Who asks for health knows neither our name nor a token.
  if (target->path == "/healthz" || target->path == "/readyz") {
    if (!get) return {not_allowed("GET, HEAD")};
    return {{}, target->path == "/healthz" ? Route::live : Route::ready};
  }
  if (auto reply = check_host(head, *target, hosts_)) return {reply};
  if (auto reply = check_origin(head, hosts_)) return {reply};
  if (has_token_in_query(target->query)) {
    return {text_reply(400,
                       "a token in the URL ends up in logs; send it in the "
                       "Authorization header, and consider this one known")};
  }
  if (auto reply = preflight(head)) return {reply};
  if (well_known_.serves(target->path)) {
    return {get ? well_known_.document() : not_allowed("GET, HEAD")};
  }
  Plan plan;
  if (target->path.starts_with(kStatePath)) {
    plan.route = Route::state;
    plan.op = target->path.substr(kStatePath.size());
  } else if (target->path != endpoint_) {
    return {text_reply(404, "nothing is here; MCP is at another path")};
  }
  if (head.method != "POST") {
    auto reply = not_allowed("POST");
    if (plan.route == Route::state)
      reply.body = failure(plan, 405, reply.body).body;
    return {std::move(reply)};
  }
  if (auto reply = check_content(head)) {
    if (plan.route == Route::state) {
      reply->body = wire_failure(reply->status, "INVALID_ARGUMENT",
                                 "the body is application/json, uncompressed")
                        .body;
    }
    plan.reply = std::move(reply);
  }
  return plan;
}

std::optional<HttpReply> Router::preflight(const HttpHead& head) const {
  if (head.method != "OPTIONS" || head.all("origin").empty() ||
      head.all("access-control-request-method").empty()) {
    return {};
  }
  HttpReply reply{204, ""};
  reply.headers = {{"Access-Control-Allow-Methods", "POST, GET"},
                   {"Access-Control-Allow-Headers",
                    "Authorization, Content-Type, Accept, "
                    "MCP-Protocol-Version, Mcp-Method, Mcp-Name, "
                    "Mcp-Session-Id, Last-Event-ID"},
                   {"Access-Control-Max-Age", "600"}};
  return reply;
}

void Router::finish(const HttpHead& head, HttpReply& reply) const {
  const auto has = [&](std::string_view name) {
    return std::any_of(
        reply.headers.begin(), reply.headers.end(),
        [&](const auto& header) { return header.first == name; });
  };
  if (!has("Cache-Control")) {
    reply.headers.emplace_back("Cache-Control", "no-store");
  }
  const auto origin = head.one("origin");
  if (!origin || origin->empty() || has("Access-Control-Allow-Origin") ||
      check_origin(head, hosts_)) {
    return;
  }
  reply.headers.emplace_back("Access-Control-Allow-Origin", *origin);
  reply.headers.emplace_back("Access-Control-Expose-Headers",
                             "WWW-Authenticate");
  reply.headers.emplace_back("Vary", "Origin");
}

Router::Admission Router::admit(const Plan& plan, const HttpHead& head,
                                bool again) const {
  if (plan.route == Route::live || plan.route == Route::ready) return Caller{};
  auto outcome = authenticator_.authenticate(head.all("authorization"), again);
  if (std::holds_alternative<NeedsKeys>(outcome)) return NeedsKeys{};
  if (auto* caller = std::get_if<Caller>(&outcome)) {
    const bool nobody = caller->wire_user.empty();
    if (plan.route != Route::state || !nobody) return std::move(*caller);
    outcome = AuthRefusal{401, "invalid_token", "a bearer token is needed"};
  }
  return refuse(plan, head, std::get<AuthRefusal>(outcome));
}

HttpReply Router::refuse(const Plan& plan, const HttpHead& head,
                         const AuthRefusal& refusal) const {
  const auto outcome =
      refusal.status == 403 ? "insufficient_scope" : "unauthenticated";
  HttpReply reply;
  try {
    record(plan, outcome, {});
  } catch (const Error& error) {
    return plan.route == Route::state ? of_wire(wire_failure(error))
                                      : text_reply(503, error.message);
  }
  if (plan.route == Route::state) {
    const auto* code = refusal.status == 403   ? "INSUFFICIENT_SCOPE"
                       : refusal.status == 400 ? "INVALID_ARGUMENT"
                                               : "UNAUTHENTICATED";
    reply = of_wire(wire_failure(refusal.status, code, refusal.description));
  } else {
    reply.body = rpc_error(-32000, refusal.description).body();
  }
  reply.status = refusal.status;
  reply.headers.emplace_back("WWW-Authenticate",
                             well_known_.challenge(refusal, head));
  return reply;
}

HttpReply Router::failure(const Plan& plan, int status,
                          const std::string& message) const {
  if (plan.route != Route::state) return text_reply(status, message);
  return of_wire(wire_failure(
      status, status >= 500 ? "UNAVAILABLE" : "INVALID_ARGUMENT", message));
}

HttpReply Router::too_large(const Plan& plan, std::uint64_t bytes,
                            std::uint64_t limit) const {
  const std::string message =
      "the body is over " + std::to_string(limit) + " bytes";
  if (plan.route != Route::state) return text_reply(413, message);
  const Json body = {{"code", "VALUE_TOO_LARGE"},
                     {"message", message},
                     {"valueBytes", bytes},
                     {"limitBytes", limit}};
  return {413, body.dump()};
}

void Router::record(const Plan& plan, const std::string& outcome,
                    const Caller& caller) const {
  if (!services_.audit) return;
  AuditEntry entry;
  entry.tool = plan.route == Route::mcp ? "mcp"
               : is_state_op(plan.op)   ? "kv." + plan.op
                                        : "kv";
  entry.outcome = outcome;
  services_.audit->write(entry, caller);
}

HttpReply Router::answer(const Plan& plan, const HttpHead& head,
                         std::string body, const Caller& caller) const {
  switch (plan.route) {
    case Route::live:
      return text_reply(200, "ok");
    case Route::ready:
      return answer_ready();
    case Route::state:
      return answer_state(plan.op, body, caller);
    case Route::mcp:
      break;
  }
  return answer_mcp(head, std::move(body), caller);
}

HttpReply Router::answer_mcp(const HttpHead& head, std::string body,
                             const Caller& caller) const {
  const auto read = read_message(std::move(body));
  if (const auto* error = std::get_if<RpcError>(&read)) return of_error(*error);
  const auto& message = std::get<Message>(read);
  if (message.kind == MessageKind::batch && !may_batch(head, message)) {
    return of_error(rpc_error(rpc::kInvalidRequest,
                              "batches are not part of this protocol version; "
                              "send one message",
                              {}, 400));
  }
  if (const auto error = check_mcp_headers(head, message)) {
    return of_error(*error);
  }
  auto answer = protocol_.answer(message, caller);
  if (answer.body.empty()) return {202, ""};
  return {answer.http_status, std::move(answer.body)};
}

HttpReply Router::answer_state(const std::string& op, const std::string& body,
                               const Caller& caller) const {
  Plan plan;
  plan.route = Route::state;
  plan.op = op;
  try {
    WireReply reply;
    try {
      const auto store = services_.store.get();
      reply = answer_state_op(*store, op, body, caller);
      if (reply.outcome == name(ErrorCode::read_only)) {
        services_.store.report(store, Error(ErrorCode::read_only, ""));
      }
    } catch (const Error& error) {
      reply = wire_failure(error);
      reply.outcome = name(error.code);
    }
    record(plan, reply.outcome, caller);
    return of_wire(std::move(reply));
  } catch (const Error& error) {
    return of_wire(wire_failure(error));
  }
}

HttpReply Router::answer_ready() const {
  if (!authenticator_.ready()) {
    return text_reply(503, "not ready: the key set has not been read yet");
  }
  try {
    services_.store.get();
  } catch (const Error& error) {
    return text_reply(503, "not ready: the store cannot be opened");
  }
  return text_reply(200, "ready");
}

}  // namespace satchel::tools::serve
