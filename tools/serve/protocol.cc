#include "tools/serve/protocol.h"

#include <algorithm>
#include <exception>
#include <iterator>

#include "satchel/version.h"
#include "tools/arguments.h"
#include "tools/serve/prompts.h"
#include "tools/serve/raw_json.h"
#include "tools/serve/resources.h"
#include "tools/serve/services.h"
#include "tools/serve/tool_schemas.h"
#include "tools/serve/tools.h"

namespace satchel::tools::serve {
namespace {

constexpr std::string_view kMeta = "io.modelcontextprotocol/";
/// How long a client may keep what only a new program changes.
constexpr int kStaticTtlMs = 300'000;

std::string server_info() {
  return "{\"name\":\"satchel\",\"title\":\"Satchel\",\"version\":" +
         json_quoted(versions().program) + "}";
}

constexpr std::string_view kCapabilities =
    "{\"tools\":{},\"resources\":{},\"prompts\":{}}";

/// The members of a result, and for the modern era how long it may be kept.
struct Content {
  std::string members;
  enum class Keep { no, not_at_all, a_while } keep = Keep::no;
};

std::string response(const Message& request, const Content& content) {
  std::string out;
  out.reserve(content.members.size() + request.id.size() + 256);
  out.append("{\"jsonrpc\":\"2.0\",\"id\":").append(request.id);
  out.append(",\"result\":{").append(content.members);
  if (request.modern) {
    if (!content.members.empty()) out += ',';
    out += "\"resultType\":\"complete\"";
    if (content.keep != Content::Keep::no) {
      const bool keep = content.keep == Content::Keep::a_while;
      out += ",\"ttlMs\":" + std::to_string(keep ? kStaticTtlMs : 0) +
             ",\"cacheScope\":\"private\"";
    }
    out.append(",\"_meta\":{\"").append(kMeta).append("serverInfo\":");
    static const std::string info = server_info();
    out.append(info).append("}");
  }
  return out + "}}";
}

/// Around a tool's object in a response; the id comes on top.
constexpr std::size_t kEnvelope = 1024;

/// The audit line of a call of no tool.
void refused_call(const Services& services, const std::string& name,
                  const Caller& caller) {
  if (!services.audit) return;
  AuditEntry entry;
  entry.tool = name.substr(0, 256);
  entry.outcome = "invalid_input";
  try {
    services.audit->write(entry, caller);
  } catch (const Error& error) {
    throw rpc_error(rpc::kInternalError, error.message);
  }
}

Content call(Services& services, const Message& request, const Caller& caller,
             std::size_t envelope) {
  const std::string name = request.param("name");
  if (!is_tool(name)) {
    refused_call(services, name, caller);
    const std::string near = nearest_tool(name);
    throw rpc_error(rpc::kInvalidParams,
                    "There is no tool " + shown(name) +
                        (near.empty() ? "; tools/list shows those there are"
                                      : "; did you mean " + near + "?"));
  }
  const auto arguments =
      member_of(request.params, "arguments").value_or(std::string_view());
  const ToolReply reply =
      call_tool(services, name, arguments, caller, envelope);
  std::string members = "\"content\":[{\"type\":\"text\",\"text\":";
  members += json_quoted(reply.object);
  members.append("}],\"structuredContent\":").append(reply.object);
  if (reply.failed) members += ",\"isError\":true";
  return {std::move(members)};
}

/// In a batch: an answer without a state in it.
constexpr std::size_t kShortAnswer = 16 * 1024;

/// A list that has one page.
void refuse_cursor(const Message& request) {
  if (request.params.empty()) return;
  const auto cursor = member_of(request.params, "cursor");
  if (!cursor || kind_of(*cursor) == JsonKind::null) return;
  throw rpc_error(rpc::kInvalidParams,
                  "There is no further page: this list was given whole");
}

Content initialize(const Message& request) {
  const std::string asked = request.param("protocolVersion");
  const auto* known =
      std::find(std::begin(kLegacyVersions), std::end(kLegacyVersions), asked);
  const auto agreed =
      known == std::end(kLegacyVersions) ? kLegacyVersions[0] : *known;
  return {"\"protocolVersion\":" + json_quoted(agreed) + ",\"capabilities\":" +
          std::string(kCapabilities) + ",\"serverInfo\":" + server_info() +
          ",\"instructions\":" + json_quoted(instructions())};
}

Content discover() {
  return {"\"supportedVersions\":[" + json_quoted(kModernVersion) +
              "],\"capabilities\":" + std::string(kCapabilities) +
              ",\"instructions\":" + json_quoted(instructions()),
          Content::Keep::a_while};
}

/// What both eras have.
Content shared_method(Services& services, const Message& request,
                      const Caller& caller, std::size_t used) {
  const std::string& method = request.method;
  const std::size_t envelope = kEnvelope + request.id.size() + used;
  if (method == "tools/call") return call(services, request, caller, envelope);
  if (method == "tools/list") {
    refuse_cursor(request);
    return {"\"tools\":" + std::string(tool_schemas()), Content::Keep::a_while};
  }
  if (method == "resources/list") {
    return {list_resources(services, request, caller),
            Content::Keep::not_at_all};
  }
  if (method == "resources/read") {
    return {read_resource(services, request, caller, envelope),
            Content::Keep::not_at_all};
  }
  if (method == "resources/templates/list") {
    refuse_cursor(request);
    return {resource_templates(), Content::Keep::a_while};
  }
  if (method == "prompts/list") {
    refuse_cursor(request);
    return {prompt_list(), Content::Keep::a_while};
  }
  if (method == "prompts/get") return {get_prompt(request)};
  throw rpc_error(rpc::kMethodNotFound,
                  "This server has no method " + shown(method), {},
                  request.modern ? 404 : 200);
}

/// The claims of a modern request's _meta.
void check_meta(const Message& request) {
  const auto refuse = [](std::string_view member, const char* rule) {
    RpcError error = rpc_error(
        rpc::kInvalidParams,
        "_meta[\"" + std::string(kMeta) + std::string(member) + "\"] " + rule,
        {}, 400);
    error.data =
        "{\"field\":" + json_quoted(std::string(kMeta) + std::string(member)) +
        "}";
    throw error;
  };
  if (request.version.empty()) {
    refuse("protocolVersion", "must be a string that names a version");
  }
  if (request.version != kModernVersion) {
    RpcError error =
        rpc_error(rpc::kUnsupportedVersion,
                  "This version of the protocol is not supported", {}, 400);
    error.data = "{\"supported\":[" + json_quoted(kModernVersion) +
                 "],\"requested\":" + json_quoted(request.version) + "}";
    throw error;
  }
  const auto member = [&](const char* name) {
    return member_of(request.meta, std::string(kMeta).append(name));
  };
  const auto capabilities = member("clientCapabilities");
  if (!capabilities || kind_of(*capabilities) != JsonKind::object) {
    refuse("clientCapabilities", "must be an object, {} for none");
  }
  if (const auto info = member("clientInfo");
      info && kind_of(*info) != JsonKind::object) {
    refuse("clientInfo", "must be an object");
  }
}

Content modern_method(Services& services, const Message& request,
                      const Caller& caller, std::size_t used) {
  check_meta(request);
  if (request.method == "server/discover") return discover();
  return shared_method(services, request, caller, used);
}

Content legacy_method(Services& services, const Message& request,
                      const Caller& caller, std::size_t used) {
  const std::string& method = request.method;
  if (method == "server/discover") {
    throw rpc_error(rpc::kInvalidParams,
                    "server/discover needs params._meta with \"" +
                        std::string(kMeta) + "protocolVersion\"",
                    {}, 400);
  }
  if (request.bad_params) {
    throw rpc_error(rpc::kInvalidParams, "params must be an object");
  }
  if (method == "initialize") return initialize(request);
  if (method == "ping") return {};
  // Nothing is ever sent for it: subscriptions are not advertised.
  if (method == "resources/subscribe" || method == "resources/unsubscribe") {
    return {};
  }
  return shared_method(services, request, caller, used);
}

Answer answer_to(const RpcError& error) {
  return {error.body(), error.http_status};
}

}  // namespace

Answer Protocol::answer_request(const Message& request, const Caller& caller,
                                std::size_t used) {
  try {
    const auto method = request.modern ? modern_method : legacy_method;
    return {response(request, method(services_, request, caller, used)), 200};
  } catch (RpcError& error) {
    error.id = request.id;
    return answer_to(error);
  } catch (const std::exception&) {
    return answer_to(rpc_error(rpc::kInternalError,
                               "The server failed while it worked on this",
                               request.id));
  }
}

Answer Protocol::answer_batch(const Message& batch, const Caller& caller) {
  if (batch.modern) {
    return answer_to(rpc_error(rpc::kInvalidRequest,
                               "Version 2026-07-28 has no batches; send each "
                               "message on its own",
                               {}, 400));
  }
  std::string out;
  // The whole reply is one line. What is left of it for a state shrinks with
  // each answer; the others of the batch keep room for a short one.
  const std::size_t others = (batch.elements.size() - 1) * kShortAnswer;
  for (const auto& element : batch.elements) {
    std::string one;
    if (const auto* error = std::get_if<RpcError>(&element)) {
      one = error->body();
    } else {
      const auto& message = std::get<Message>(element);
      if (message.kind != MessageKind::request) continue;
      one = message.method == "initialize"
                ? rpc_error(rpc::kInvalidRequest,
                            "initialize cannot stand in a batch", message.id)
                      .body()
                : answer_request(message, caller, out.size() + others).body;
      // Lists of resources and of tools have no limit of their own.
      if (out.size() + one.size() > kMostReplyBytes) {
        one = rpc_error(rpc::kInternalError,
                        "The reply to this batch would be larger than clients "
                        "read; send this request on its own",
                        message.id)
                  .body();
      }
    }
    if (!one.empty()) out.append(out.empty() ? "[" : ",").append(one);
  }
  return {out.empty() ? out : out + ']', 200};
}

Answer Protocol::answer(const Message& message, const Caller& caller) {
  switch (message.kind) {
    case MessageKind::request:
      return answer_request(message, caller);
    case MessageKind::batch:
      return answer_batch(message, caller);
    default:
      return {};
  }
}

bool Protocol::is_quick(const Message& message) {
  return message.kind != MessageKind::batch &&
         (message.kind != MessageKind::request ||
          (message.method != "tools/call" &&
           message.method != "resources/list" &&
           message.method != "resources/read"));
}

Protocol::Protocol(Services& services) : services_(services) {}

}  // namespace satchel::tools::serve
