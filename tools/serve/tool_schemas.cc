#include "tools/serve/tool_schemas.h"

// Schemas stay within what every host takes: an object with plain properties;
// no oneOf, anyOf, allOf, $ref, format or lists of types.

namespace satchel::tools::serve {
namespace {

constexpr std::string_view kSave = R"J({"name":"state_save",
"title":"Save state",
"description":"Create or replace a piece of durable working state (a JSON object) that belongs to the user and outlives this conversation, this client and this machine's restarts. WITHOUT handle: creates a new one; kind is required; remember the handle and version from the reply. WITH handle: replaces the whole state; expect_version is then required and must be the version that you last saw, so that nobody's work is lost. Before you create, call state_list: if the work already has a handle, update it instead. If the reply is stale_write, somebody saved in between and your save was NOT applied: merge your change into error.current.state and save again with expect_version = error.current.version, or use state_patch. For small changes prefer state_patch. How long it lives: expires_at in the reply (null means until it is deleted); set it with ttl_days, or persist to never expire; leaving both out of an update keeps the expiry.",
"inputSchema":{"type":"object","properties":{
"kind":{"type":"string","description":"What sort of work this is, to find it again: a-z, 0-9 and '-', begins with a letter, at most 32 characters, for example \"research\". Required to create."},
"state":{"type":"object","description":"The whole state, a JSON object."},
"handle":{"type":"string","description":"Which state to replace. Leave out to create a new one."},
"expect_version":{"type":"integer","description":"With handle: the version that you last saw. Required then."},
"ttl_days":{"type":"number","description":"Expire this many days from now; fractions are allowed."},
"persist":{"type":"boolean","description":"true: never expire."},
"return_state":{"type":"boolean","description":"true: the reply holds the state too. Default false."},
"request_id":{"type":"string","description":"A unique id of this call. Sending the same call with the same id again does not apply it twice."},
"writer":{"type":"string","description":"Who is writing, a label for people."}},
"required":["state"]},
"annotations":{"title":"Save state","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}})J";

constexpr std::string_view kLoad = R"J({"name":"state_load",
"title":"Load state",
"description":"Read a state by its handle: the JSON, its version (keep it: state_save needs it as expect_version), expires_at and size_bytes. For a large state read only a part with path. Reading does not change the expiry.",
"inputSchema":{"type":"object","properties":{
"handle":{"type":"string","description":"As state_save or state_list gave it."},
"path":{"type":"string","description":"Only this part: dotted keys (\"profile.tags\"), or a JSON Pointer (\"/sources/0\") to reach array items and keys with dots."},
"version":{"type":"integer","description":"An older version instead of the current one."}},
"required":["handle"]},
"annotations":{"title":"Load state","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}})J";

constexpr std::string_view kList = R"J({"name":"state_list",
"title":"List states",
"description":"List the user's states, most recently updated first, without their content: handle, kind, version, updated_at, expires_at, last_writer. Call this first in a conversation, to find earlier work before you create anything. A cursor in the reply means that there are more: call again with it.",
"inputSchema":{"type":"object","properties":{
"kind":{"type":"string","description":"Only states of this kind."},
"include_expired":{"type":"boolean","description":"true: also those whose time is over but that were not removed yet."},
"limit":{"type":"integer","description":"How many at most, 1 to 1000. Default 100."},
"cursor":{"type":"string","description":"From the reply before, to continue after it."}}},
"annotations":{"title":"List states","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}})J";

constexpr std::string_view kPatch = R"J({"name":"state_patch",
"title":"Patch state",
"description":"Change parts of a state without sending all of it and without expect_version; it never conflicts with other writers. The ops apply in order to the newest state, all or none. Ops: append(path,value) to an array; set_key(path,key,value) and del_key(path,key) on an object; merge(mapping,path) sets several keys; increment(path,key,by) a number; add_to_set(path,value) appends unless it is there; remove_value(path,value). path is dotted (\"profile.tags\"; \"\" is the root) or a JSON Pointer (\"/a/0\"). \"create\":true in an op makes missing parents. The reply holds the new version and the state.",
"inputSchema":{"type":"object","properties":{
"handle":{"type":"string","description":"Which state to change."},
"ops":{"type":"array","description":"For example [{\"op\":\"append\",\"path\":\"sources\",\"value\":\"a.pdf\"}]. At most 1000.","items":{"type":"object","properties":{
"op":{"type":"string","enum":["append","set_key","del_key","merge","increment","add_to_set","remove_value"]},
"path":{"type":"string","description":"Where in the state; \"\" is the root."},
"key":{"type":"string","description":"The member, taken literally: set_key, del_key, increment."},
"value":{"description":"Any JSON value: append, set_key, add_to_set, remove_value."},
"mapping":{"type":"object","description":"The members to set: merge."},
"by":{"type":"number","description":"What to add: increment."},
"create":{"type":"boolean","description":"true: make missing parents."}},
"required":["op"]}},
"return_state":{"type":"boolean","description":"false: the reply holds only version and times. Default true."},
"request_id":{"type":"string","description":"A unique id of this call. Sending the same call with the same id again does not apply it twice."},
"writer":{"type":"string","description":"Who is writing, a label for people."}},
"required":["handle","ops"]},
"annotations":{"title":"Patch state","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}})J";

constexpr std::string_view kTouch = R"J({"name":"state_touch",
"title":"Set expiry",
"description":"Set how long a state lives from now, without changing it: ttl_days, or persist: true to never expire. One of the two is required. Use it to keep work alive that goes on.",
"inputSchema":{"type":"object","properties":{
"handle":{"type":"string","description":"Which state."},
"ttl_days":{"type":"number","description":"Expire this many days from now; fractions are allowed."},
"persist":{"type":"boolean","description":"true: never expire."},
"return_state":{"type":"boolean","description":"true: the reply holds the state too. Default false."},
"request_id":{"type":"string","description":"A unique id of this call. Sending the same call with the same id again does not apply it twice."},
"writer":{"type":"string","description":"Who is writing, a label for people."}},
"required":["handle"]},
"annotations":{"title":"Set expiry","readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}})J";

constexpr std::string_view kDelete = R"J({"name":"state_delete",
"title":"Delete state",
"description":"End a state and its history for good. Only when the work is finished and the user agrees, or asks for it.",
"inputSchema":{"type":"object","properties":{
"handle":{"type":"string","description":"Which state to delete."},
"request_id":{"type":"string","description":"A unique id of this call. Sending the same call with the same id again does not apply it twice."}},
"required":["handle"]},
"annotations":{"title":"Delete state","readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}})J";

constexpr std::string_view kChanges = R"J({"name":"state_changes",
"title":"Changes since a version",
"description":"What happened to a state since a version that you know: cheaper than loading a large state again when you resume. The reply holds exactly one of: changes (the ops of each later version, oldest first), replaced (the state was saved as a whole; this is it), or too_old with the current state.",
"inputSchema":{"type":"object","properties":{
"handle":{"type":"string","description":"Which state."},
"since_version":{"type":"integer","description":"The version that you last saw; 0 is before the first."}},
"required":["handle","since_version"]},
"annotations":{"title":"Changes since a version","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}})J";

/// Raw strings break lines for the reader; the wire has one line.
std::string without_line_breaks(std::string text) {
  std::erase(text, '\n');
  return text;
}

std::string all_schemas() {
  std::string out = "[";
  for (const auto tool :
       {kSave, kLoad, kList, kPatch, kTouch, kDelete, kChanges}) {
    if (out.size() > 1) out += ',';
    out += tool;
  }
  return without_line_breaks(out + ']');
}

}  // namespace

std::string_view tool_schemas() {
  static const std::string schemas = all_schemas();
  return schemas;
}

std::string_view instructions() {
  return "Satchel keeps the user's working state: JSON objects under handles "
         "that belong to the user and are still there in the next "
         "conversation and in other clients. At the start call state_list to "
         "see what is there, and state_load what fits the task; go on with it "
         "rather than creating it anew. Create with state_save (kind and "
         "state); keep handle and version. Change with state_patch, or with "
         "state_save, handle and expect_version. On stale_write your write was "
         "not applied: merge with error.current and try again. Read the "
         "message of every error: it says what to do. Delete with state_delete "
         "only what is finished.";
}

}  // namespace satchel::tools::serve
