#include "tools/serve/resources.h"

#include <memory>
#include <optional>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/serve/raw_json.h"
#include "tools/serve/refusals.h"
#include "tools/serve/services.h"
#include "tools/serve/tools.h"

namespace satchel::tools::serve {
namespace {

constexpr std::string_view kScheme = "state://";
/// Clients follow at most 64 pages; a user has at most 10,000 handles unless
/// the operator says more.
constexpr std::uint32_t kPage = 250;

std::string described(const HandleInfo& info) {
  return "State of kind " + info.kind + ", version " +
         std::to_string(info.version) + ", updated " +
         to_rfc3339(info.updated_at) + ", expires " +
         (info.expires_at ? to_rfc3339(*info.expires_at) : "never");
}

std::string resource(const HandleInfo& info) {
  return "{\"uri\":" + json_quoted(std::string(kScheme) + info.handle) +
         ",\"name\":" + json_quoted(info.handle) +
         ",\"description\":" + json_quoted(described(info)) +
         ",\"mimeType\":\"application/json\",\"annotations\":{"
         "\"lastModified\":\"" +
         to_rfc3339(info.updated_at) + "\"}}";
}

/// The error's object, {code,message,…}.
std::string error_object(const Error& error) {
  const std::string payload = error.to_payload();
  return std::string(*member_of(payload, "error"));
}

bool is_gone(ErrorCode code) {
  return code == ErrorCode::handle_not_found ||
         code == ErrorCode::handle_expired;
}

RpcError not_readable(const Error& error, const Message& request,
                      const std::string& uri) {
  const Error told = for_model(error, "");
  if (!is_gone(error.code)) {
    const bool input = error.code == ErrorCode::invalid_input;
    RpcError out = rpc_error(input ? rpc::kInvalidParams : rpc::kInternalError,
                             told.message);
    out.data = error_object(told);
    return out;
  }
  const bool expired = error.code == ErrorCode::handle_expired;
  RpcError out = rpc_error(
      request.modern ? rpc::kInvalidParams : rpc::kResourceNotFound,
      expired ? told.message
              : "There is no such resource; resources/list shows what there "
                "is");
  out.data = "{\"uri\":" + json_quoted(uri) + "}";
  return out;
}

/// Runs `work` on the store and writes the audit line; throws RpcError made by
/// `told` from an Error.
template <class Work, class Told>
std::string audited(Services& services, const Caller& caller, AuditEntry& audit,
                    Work work, Told told) {
  std::optional<Error> failure;
  std::string result;
  std::shared_ptr<HandleStore> store;
  try {
    store = services.store.get();
    result = work(*store);
  } catch (const Error& error) {
    failure = error;
    audit.outcome = name(error.code);
    if (store) services.store.report(store, error);
  }
  if (services.audit) {
    try {
      services.audit->write(audit, caller);
    } catch (const Error& error) {
      failure = error;
    }
  }
  if (failure) throw told(*failure);
  return result;
}

std::string cursor_of(const Message& request) {
  const auto raw = request.params.empty() ? std::nullopt
                                          : member_of(request.params, "cursor");
  if (!raw || kind_of(*raw) == JsonKind::null) return {};
  const auto cursor = text_of(*raw);
  if (cursor && !cursor->empty()) return *cursor;
  throw invalid("cursor", "cursor must be the nextCursor of the page before");
}

}  // namespace

std::string list_resources(Services& services, const Message& request,
                           const Caller& caller) {
  ListOptions options;
  options.limit = kPage;
  AuditEntry audit;
  audit.tool = "resources/list";
  const auto work = [&](HandleStore& store) {
    options.cursor = cursor_of(request);
    const ListPage page = store.list(caller.user, options).value();
    std::string out = "\"resources\":[";
    for (const HandleInfo& info : page.handles) {
      if (out.back() != '[') out += ',';
      out += resource(info);
    }
    out += ']';
    if (!page.cursor.empty())
      out += ",\"nextCursor\":" + json_quoted(page.cursor);
    return out;
  };
  return audited(services, caller, audit, work, [](const Error& error) {
    const bool input = error.code == ErrorCode::invalid_input;
    RpcError out = rpc_error(input ? rpc::kInvalidParams : rpc::kInternalError,
                             for_model(error, "").message);
    out.data = error_object(error);
    return out;
  });
}

std::string read_resource(Services& services, const Message& request,
                          const Caller& caller, std::size_t envelope) {
  const std::string uri = request.param("uri");
  AuditEntry audit;
  audit.tool = "resources/read";
  const auto work = [&](HandleStore& store) {
    if (uri.empty()) {
      throw invalid("uri",
                    "uri is missing; resources/list shows what there is");
    }
    if (!uri.starts_with(kScheme)) {
      throw Error(ErrorCode::handle_not_found, "no such scheme");
    }
    const std::string handle = uri.substr(kScheme.size());
    audit.handle = handle.substr(0, 256);
    const Snapshot snapshot = store.get(handle, {.user = caller.user}).value();
    audit.version_before = audit.version_after = snapshot.version;
    const std::string object = loaded_object(snapshot);
    const std::string text = json_quoted(object);
    if (text.size() + 2 * uri.size() + envelope >= kMostReplyBytes) {
      throw too_long(text.size(),
                     "Read a part of it with the tool state_load.");
    }
    return "\"contents\":[{\"uri\":" + json_quoted(uri) +
           ",\"mimeType\":\"application/json\",\"text\":" + text + "}]";
  };
  return audited(services, caller, audit, work, [&](const Error& error) {
    return not_readable(error, request, uri);
  });
}

std::string resource_templates() {
  return "\"resourceTemplates\":[{\"uriTemplate\":\"state://{handle}\","
         "\"name\":\"state\",\"title\":\"State by handle\","
         "\"description\":\"A state of the user with its version and expiry, "
         "as state_load gives it\",\"mimeType\":\"application/json\"}]";
}

}  // namespace satchel::tools::serve
