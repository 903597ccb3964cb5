#include "tools/serve/tools.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/json_write.h"
#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/nearest.h"
#include "tools/serve/raw_json.h"
#include "tools/serve/refusals.h"
#include "tools/serve/services.h"
#include "tools/serve/tool_arguments.h"

namespace satchel::tools::serve {
namespace {

/// One call under way. The store is opened when it is first asked for: what is
/// wrong with the arguments is said without it.
struct Call {
  Services& services;
  const Caller& caller;
  const ToolArguments& arguments;
  std::size_t envelope;
  AuditEntry& audit;
  std::shared_ptr<HandleStore> held{};

  HandleStore& store() {
    if (!held) held = services.store.get();
    return *held;
  }
  /// The argument `handle`, or its refusal when it is missing.
  std::string handle() const {
    auto handle = arguments.text("handle");
    if (handle) return *std::move(handle);
    throw invalid("handle",
                  "handle is missing; call state_list to see the handles that "
                  "exist");
  }
  std::string writer() const {
    return arguments.text("writer").value_or(caller.writer);
  }
  std::string request_id() const {
    auto id = arguments.text("request_id").value_or("");
    if (id.empty() && arguments.has("request_id")) {
      throw invalid("request_id",
                    "request_id is empty; send 1 to 128 printable ASCII "
                    "characters, or leave it out");
    }
    return id;
  }
};

/// What an object takes in a reply: itself, and itself as a string.
std::size_t twice(std::string_view object) {
  return object.size() + string_size(object);
}

/// `object` with one more member.
std::string with(std::string object, std::string_view name,
                 std::string_view json) {
  object.back() = ',';
  object.append("\"").append(name).append("\":").append(json);
  return object + '}';
}

/// What a write answers. When the state makes the reply too long it is left
/// out: the write has happened, and a failure would say otherwise.
std::string written(const Call& call, Snapshot snapshot,
                    std::string note = {}) {
  const auto noted = [&](std::string object) {
    return note.empty() ? object
                        : with(std::move(object), "note", json_quoted(note));
  };
  std::string object = noted(to_object(snapshot));
  if (!snapshot.state || !is_too_long(object, call.envelope)) return object;
  const std::string size = std::to_string(snapshot.state->size_bytes());
  snapshot.state.reset();
  note.insert(0, note.empty() ? "" : " ");
  note.insert(0,
              "The write was applied. The state is left out, because it is too "
              "large for one reply; read parts of it with state_load and "
              "path.");
  return noted(with(to_object(snapshot), "size_bytes", size));
}

/// What a model should know that creates although it has such states; empty
/// when it has none.
std::string note_on_others(Call& call, const Snapshot& created) {
  ListOptions options;
  options.kind = created.kind;
  options.limit = 2;
  const auto page = call.store().list(call.caller.user, options);
  if (!page.ok()) return {};
  for (const HandleInfo& info : page->handles) {
    if (info.handle == created.handle) continue;
    return "The user already had live states of kind " + created.kind +
           ", for example " + info.handle +
           ". If this is the same work, go on with that one (state_load, then "
           "state_patch) and state_delete this new one.";
  }
  return {};
}

std::string create(Call& call) {
  const auto& arguments = call.arguments;
  if (arguments.has("expect_version")) {
    throw invalid("expect_version",
                  "expect_version goes with handle; to update send both, to "
                  "create send neither");
  }
  const auto kind = arguments.text("kind");
  if (!kind) {
    throw invalid("kind",
                  "kind is required to create a state, for example "
                  "\"research\"; to update one, send its handle");
  }
  const Document state = arguments.state();
  MintOptions options;
  options.user = call.caller.user;
  options.ttl = call.services.policy.for_create(arguments.lifetime());
  options.writer = call.writer();
  options.request_id = call.request_id();
  options.return_state = arguments.flag("return_state");
  Snapshot snapshot = call.store().mint(*kind, state, options).value();
  call.audit.handle = snapshot.handle;
  call.audit.version_after = snapshot.version;
  auto note = note_on_others(call, snapshot);
  return written(call, std::move(snapshot), std::move(note));
}

std::string update(Call& call, const std::string& handle) {
  const auto& arguments = call.arguments;
  const auto kind = arguments.text("kind");
  // A handle begins with its kind.
  if (kind && handle.find('_') != handle.npos &&
      *kind != handle.substr(0, handle.rfind('_'))) {
    throw invalid("kind",
                  "the kind of a state cannot change; leave kind out to update "
                  "it, or leave handle out to create a new one. The save was "
                  "not applied.");
  }
  SaveOptions options;
  options.user = call.caller.user;
  options.expect_version = arguments.integer("expect_version");
  if (!options.expect_version) {
    throw invalid("expect_version",
                  "expect_version is required with handle: send the version "
                  "that you last saw (state_load tells it), or use "
                  "state_patch. The save was not applied.");
  }
  const Document state = arguments.state();
  options.writer = call.writer();
  options.ttl = call.services.policy.for_update(arguments.lifetime());
  options.request_id = call.request_id();
  options.return_state = arguments.flag("return_state");
  Snapshot snapshot = call.store().save(handle, state, options).value();
  call.audit.version_before = options.expect_version;
  call.audit.version_after = snapshot.version;
  return written(call, std::move(snapshot));
}

std::string save(Call& call) {
  const auto handle = call.arguments.text("handle");
  return handle ? update(call, *handle) : create(call);
}

std::string load(Call& call) {
  const std::string handle = call.handle();
  GetOptions options;
  options.user = call.caller.user;
  options.path = call.arguments.text("path");
  options.version = call.arguments.integer("version");
  const Snapshot snapshot = call.store().get(handle, options).value();
  call.audit.version_before = call.audit.version_after = snapshot.version;
  std::string object = loaded_object(snapshot);
  if (is_too_long(object, call.envelope)) {
    throw too_long(twice(object), "Read a part of the state with path.");
  }
  return object;
}

std::string list(Call& call) {
  const auto& arguments = call.arguments;
  ListOptions options;
  if (const auto kind = arguments.text("kind")) {
    options.kind = *kind;
    if (kind->empty()) {
      throw invalid("kind", "kind is empty; leave it out to list every kind");
    }
  }
  options.include_expired = arguments.flag("include_expired");
  options.cursor = arguments.text("cursor").value_or("");
  const std::uint64_t limit = arguments.integer("limit").value_or(100);
  if (limit < 1 || limit > 1000) {
    throw invalid("limit", "limit must be 1 to 1000");
  }
  options.limit = static_cast<std::uint32_t>(limit);
  std::string object =
      to_object(call.store().list(call.caller.user, options).value());
  if (is_too_long(object, call.envelope)) {
    throw too_long(twice(object), "Ask for fewer with limit.");
  }
  return object;
}

/// For the audit log only: a patch says which version it made, not whether it
/// made one.
std::optional<std::uint64_t> version_before(Call& call,
                                            const std::string& handle) {
  if (!call.services.audit) return std::nullopt;
  const auto now = call.store().get(handle, {.user = call.caller.user});
  if (!now.ok()) return std::nullopt;
  return now->version;
}

std::string patch(Call& call) {
  const auto& arguments = call.arguments;
  const std::string handle = call.handle();
  const Document ops = arguments.ops();
  PatchOptions options;
  options.user = call.caller.user;
  options.writer = call.writer();
  options.request_id = call.request_id();
  options.return_state =
      !arguments.has("return_state") || arguments.flag("return_state");
  const auto before = version_before(call, handle);
  Snapshot snapshot = call.store().patch(handle, ops, options).value();
  if (before) {
    // Others may have written in between; this patch itself made one version
    // at most.
    call.audit.version_before =
        std::clamp(*before, snapshot.version - 1, snapshot.version);
  }
  call.audit.version_after = snapshot.version;
  return written(call, std::move(snapshot));
}

std::string touch(Call& call) {
  const auto& arguments = call.arguments;
  const std::string handle = call.handle();
  const Ttl asked = arguments.lifetime();
  if (asked.kind() == Ttl::Kind::keep) {
    throw invalid("ttl_days",
                  "say how long: ttl_days, or persist: true to never expire");
  }
  TouchOptions options;
  options.user = call.caller.user;
  options.ttl = call.services.policy.for_update(asked);
  options.writer = call.writer();
  options.request_id = call.request_id();
  options.return_state = arguments.flag("return_state");
  Snapshot snapshot = call.store().touch(handle, options).value();
  call.audit.version_before = snapshot.version - 1;
  call.audit.version_after = snapshot.version;
  return written(call, std::move(snapshot));
}

std::string remove(Call& call) {
  const std::string handle = call.handle();
  RevokeOptions options;
  options.user = call.caller.user;
  options.request_id = call.request_id();
  const auto before = version_before(call, handle);
  call.store().revoke(handle, options).value();
  call.audit.version_before = before;
  return revoked_object(handle);
}

std::string changes(Call& call) {
  const std::string handle = call.handle();
  const auto since = call.arguments.integer("since_version");
  if (!since) {
    throw invalid("since_version",
                  "since_version is missing; send the version that you last "
                  "saw");
  }
  const Changes changes =
      call.store().changes_since(handle, *since, call.caller.user).value();
  call.audit.version_before = since;
  call.audit.version_after = changes.version;
  std::string object = to_object(changes);
  if (is_too_long(object, call.envelope)) {
    throw too_long(twice(object),
                   "Read parts of the state with state_load and path.");
  }
  return object;
}

struct Tool {
  std::string name;
  std::vector<std::string> arguments;
  std::string (*run)(Call&);
};

const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> tools = {
      {"state_save",
       {"kind", "state", "handle", "expect_version", "ttl_days", "persist",
        "return_state", "request_id", "writer"},
       save},
      {"state_load", {"handle", "path", "version"}, load},
      {"state_list", {"kind", "include_expired", "limit", "cursor"}, list},
      {"state_patch",
       {"handle", "ops", "return_state", "request_id", "writer"},
       patch},
      {"state_touch",
       {"handle", "ttl_days", "persist", "return_state", "request_id",
        "writer"},
       touch},
      {"state_delete", {"handle", "request_id"}, remove},
      {"state_changes", {"handle", "since_version"}, changes}};
  return tools;
}

const Tool* tool_named(std::string_view name) {
  for (const Tool& tool : all_tools()) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

/// Runs the tool; an Error becomes its object. What the audit log should know
/// lands in `audit`.
ToolReply outcome_of(Services& services, const Tool& tool,
                     std::string_view text, const Caller& caller,
                     std::size_t envelope, AuditEntry& audit) {
  std::shared_ptr<HandleStore> held;
  const auto failure = [&](const Error& error) {
    if (held) services.store.report(held, error);
    audit.outcome = name(error.code);
    Error told = for_model(error, audit.handle);
    std::string object = told.to_payload();
    if (is_too_long(object, envelope) && told.details.contains("current")) {
      told.details["current"].erase("state");
      told.message +=
          " The state is left out here: it is too large for one "
          "reply; read parts of it with state_load and path.";
      object = told.to_payload();
    }
    return ToolReply{std::move(object), true};
  };
  try {
    const ToolArguments arguments(text, tool.arguments);
    audit.handle = arguments.raw_text("handle").substr(0, 256);
    audit.request_id = arguments.raw_text("request_id").substr(0, 256);
    Call call{services, caller, arguments, envelope, audit};
    try {
      return {tool.run(call), false};
    } catch (...) {
      held = call.held;
      throw;
    }
  } catch (const Error& error) {
    return failure(error);
  } catch (const std::exception&) {
    return failure(Error(ErrorCode::internal_error,
                         "The server failed while it worked on this call. "
                         "Whether it was carried out is not known; look with "
                         "state_load before you repeat it."));
  }
}

}  // namespace

bool is_tool(std::string_view name) { return tool_named(name) != nullptr; }

std::string nearest_tool(std::string_view name) {
  std::vector<std::string> names;
  for (const Tool& tool : all_tools()) names.push_back(tool.name);
  return nearest(name, names);
}

ToolReply call_tool(Services& services, std::string_view name,
                    std::string_view arguments, const Caller& caller,
                    std::size_t envelope) {
  AuditEntry audit;
  audit.tool = name;
  ToolReply reply = outcome_of(services, *tool_named(name), arguments, caller,
                               envelope, audit);
  if (!services.audit) return reply;
  try {
    services.audit->write(audit, caller);
  } catch (const Error& error) {
    return {error.to_payload(), true};
  }
  return reply;
}

std::string loaded_object(const Snapshot& snapshot) {
  return with(to_object(snapshot), "size_bytes",
              std::to_string(snapshot.state->size_bytes()));
}

bool is_too_long(std::string_view object, std::size_t envelope) {
  // As a string it grows to twice its length at most.
  if (object.size() * 3 + envelope < kMostReplyBytes) return false;
  return twice(object) + envelope >= kMostReplyBytes;
}

Error too_long(std::size_t bytes, std::string_view advice) {
  return {ErrorCode::state_too_large,
          "The reply would be larger than clients read. " + std::string(advice),
          Json{{"size_bytes", bytes}, {"limit_bytes", kMostReplyBytes}}};
}

}  // namespace satchel::tools::serve
