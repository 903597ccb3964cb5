#include "tools/serve/message.h"

#include <utility>

#include "tools/serve/raw_json.h"

namespace satchel::tools::serve {
namespace {

constexpr std::size_t kLongestBatch = 100;
constexpr int kBadRequest = 400;

RpcError refused(int code, const char* message, const std::string& id = {}) {
  return rpc_error(code, message, id, kBadRequest);
}

/// An id that can be echoed: a string or an integer.
bool is_id(std::string_view value) {
  const JsonKind kind = kind_of(value);
  return kind == JsonKind::string ||
         (kind == JsonKind::number && value.find_first_of(".eE") == value.npos);
}

struct Envelope {
  std::string_view jsonrpc, id, method, params;
  bool answers = false;
};

Envelope envelope_of(std::string_view object) {
  Envelope e;
  for (const auto& [key, value] : members_of(object)) {
    if (key == "jsonrpc") e.jsonrpc = value;
    if (key == "id") e.id = value;
    if (key == "method") e.method = value;
    if (key == "params") e.params = value;
    if (key == "result" || key == "error") e.answers = true;
  }
  return e;
}

std::string name_in(std::string_view object, std::string_view member) {
  const auto info = member_of(object, member);
  if (!info || kind_of(*info) != JsonKind::object) return {};
  const auto name = member_of(*info, "name");
  return name ? text_of(*name).value_or("") : "";
}

void read_params(std::string_view params, Message* message) {
  if (params.empty() || kind_of(params) == JsonKind::null) return;
  if (kind_of(params) != JsonKind::object) {
    message->bad_params = true;
    return;
  }
  message->params = params;
  const auto meta = member_of(params, "_meta");
  if (meta && kind_of(*meta) == JsonKind::object) {
    message->meta = *meta;
    const auto claim =
        member_of(*meta, "io.modelcontextprotocol/protocolVersion");
    message->modern = claim.has_value();
    if (claim) message->version = text_of(*claim).value_or("");
    message->client_name = name_in(*meta, "io.modelcontextprotocol/clientInfo");
  }
  if (message->method == "initialize") {
    message->client_name = name_in(params, "clientInfo");
  }
}

ReadResult read_object(const std::shared_ptr<const std::string>& text,
                       std::string_view object) {
  if (kind_of(object) != JsonKind::object) {
    return refused(rpc::kInvalidRequest,
                   "A message is a JSON-RPC 2.0 object: jsonrpc, id, method, "
                   "params");
  }
  const Envelope e = envelope_of(object);
  Message message;
  message.text = text;
  const bool has_id = !e.id.empty();
  if (has_id && is_id(e.id)) message.id = e.id;
  const auto method = e.method.empty() ? std::nullopt : text_of(e.method);
  if (text_of(e.jsonrpc.empty() ? "null" : e.jsonrpc) != "2.0") {
    return refused(rpc::kInvalidRequest, "The member jsonrpc must be \"2.0\"",
                   message.id);
  }
  if (e.method.empty() && e.answers) {
    message.kind = MessageKind::response;
    return message;
  }
  if (!method) {
    return refused(rpc::kInvalidRequest, "The member method must be a string",
                   message.id);
  }
  if (has_id && message.id.empty()) {
    return refused(rpc::kInvalidRequest,
                   "The member id must be a string or an integer");
  }
  message.kind = has_id ? MessageKind::request : MessageKind::notification;
  message.method = *method;
  read_params(e.params, &message);
  return message;
}

ReadResult read_batch(const std::shared_ptr<const std::string>& text,
                      std::string_view array) {
  const auto items = items_of(array);
  if (items.empty() || items.size() > kLongestBatch) {
    return refused(rpc::kInvalidRequest,
                   "A batch holds 1 to 100 messages; send each on its own");
  }
  Message batch;
  batch.text = text;
  batch.kind = MessageKind::batch;
  for (const auto item : items) {
    batch.elements.push_back(read_object(text, item));
    const auto* message = std::get_if<Message>(&batch.elements.back());
    batch.modern = batch.modern || (message && message->modern);
  }
  return batch;
}

/// A member that stands twice: the id is known only if it is not itself in
/// doubt.
RpcError duplicate(std::string_view value) {
  constexpr const char* kMessage =
      "An object in the message holds the same member twice; send each once";
  std::size_t ids = 0;
  std::string_view id;
  if (kind_of(value) == JsonKind::object) {
    for (const auto& member : members_of(value)) {
      if (member.key == "id") ++ids, id = member.value;
    }
  }
  if (ids != 1 || !is_id(id)) return refused(rpc::kParseError, kMessage);
  return refused(rpc::kInvalidRequest, kMessage, std::string(id));
}

}  // namespace

std::string RpcError::body() const {
  std::string out = "{\"jsonrpc\":\"2.0\",";
  if (!id.empty()) out.append("\"id\":").append(id).append(",");
  out.append("\"error\":{\"code\":").append(std::to_string(code));
  out.append(",\"message\":").append(json_quoted(message));
  if (!data.empty()) out.append(",\"data\":").append(data);
  return out + "}}";
}

std::string Message::param(std::string_view name) const {
  if (params.empty()) return {};
  const auto value = member_of(params, name);
  return value ? text_of(*value).value_or("") : "";
}

ReadResult read_message(std::string text) {
  const auto shared = std::make_shared<const std::string>(std::move(text));
  const Scan found = scan(*shared);
  if (!found.json) {
    return refused(rpc::kParseError,
                   "The message is no valid JSON text in UTF-8");
  }
  const auto value = trimmed(*shared);
  if (found.duplicate) return duplicate(value);
  if (kind_of(value) == JsonKind::array) return read_batch(shared, value);
  return read_object(shared, value);
}

RpcError rpc_error(int code, std::string message, const std::string& id,
                   int http_status) {
  return {code, std::move(message), {}, id, http_status};
}

}  // namespace satchel::tools::serve
