#include "tools/serve/state_wire.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "satchel/document.h"

namespace satchel::tools::serve {
namespace {

/// A refusal in the wire's own words: code, message, then the fields.
struct Refusal {
  int status;
  std::string code;
  std::string message;
  Json fields = Json::object();
};

Refusal invalid_argument(const std::string& reason) {
  return {400, "INVALID_ARGUMENT", reason, {{"reason", reason}}};
}

Refusal invalid_context(int status, const char* field,
                        const std::string& reason) {
  return {status, "INVALID_CONTEXT",
          std::string("context.") + field + ' ' + reason,
          Json{{"field", field}, {"reason", reason}}};
}

/// The library's error as the wire tells it. `args` are the caller's own.
Refusal refusal_of(const Error& error, const Json& args) {
  const auto& details = error.details;
  const auto code = details.value("kv_code", "");
  if (code.empty()) return {503, "UNAVAILABLE", error.message};
  Refusal refusal{400, code, error.message};
  const auto copy = [&](const char* from, const char* to) {
    if (details.contains(from)) refusal.fields[to] = details[from];
  };
  const auto reason = details.value("reason", error.message);
  if (code == "QUOTA_EXCEEDED") {
    refusal.status = 413;
    copy("usedBytes", "usedBytes");
    copy("limitBytes", "limitBytes");
  } else if (code == "VALUE_TOO_LARGE") {
    refusal.status = 413;
    copy("valueBytes", "valueBytes");
    copy("limitBytes", "limitBytes");
  } else if (code == "INVALID_KEY") {
    copy("key", "key");
    refusal.fields["reason"] = reason;
  } else if (code == "INVALID_TTL") {
    refusal.fields["ttl"] = args.contains("ttl") ? args["ttl"] : Json();
    refusal.fields["reason"] = reason;
  } else if (code == "INVALID_CONTEXT") {
    refusal.status = 403;
    const bool app = details.value("field", "") == "app";
    refusal.fields["field"] = app ? "mcpId" : "userId";
    refusal.fields["reason"] = reason;
  } else if (code == "TYPE_MISMATCH") {
    copy("key", "key");
    copy("actual", "actualType");
  } else {
    refusal.fields["reason"] = reason;
  }
  return refusal;
}

WireReply reply(const Refusal& refusal, std::string outcome) {
  Json body = {{"code", refusal.code}, {"message", refusal.message}};
  for (const auto& [name, value] : refusal.fields.items()) body[name] = value;
  const auto text = Document::from_json(body);
  return {refusal.status,
          text.ok() ? text->text() : R"({"code":"INVALID_ARGUMENT"})",
          std::move(outcome)};
}

WireReply result(std::string_view json) {
  return {200, R"({"result":)" + std::string(json) + '}', "ok"};
}

std::string json_quoted(std::string_view text) {
  return Document::from_json(Json(std::string(text))).value().text();
}

/// One call's arguments, read strictly; throws Refusal.
class Arguments {
 public:
  Arguments(const Json& args, std::vector<const char*> known) : args_(args) {
    for (const auto& [name, value] : args.items()) {
      bool found = false;
      for (const auto* each : known) found = found || name == each;
      if (!found) throw invalid_argument("args has an unknown member");
    }
  }

  std::string key() const {
    if (const auto* value = find("key"); value && value->is_string()) {
      return *value;
    }
    const std::string reason = "must be a string";
    throw Refusal{400, "INVALID_KEY", "the key " + reason,
                  Json{{"key", ""}, {"reason", reason}}};
  }

  /// Seconds, fractions allowed, down to microseconds.
  Ttl ttl() const {
    const auto* value = find("ttl");
    if (!value) return {};  // the library says that it is required
    if (!value->is_number()) {
      const std::string reason = "must be a number of seconds";
      throw Refusal{400, "INVALID_TTL", "the ttl " + reason,
                    Json{{"ttl", *value}, {"reason", reason}}};
    }
    return std::chrono::duration<double>(value->get<double>());
  }

  const Json& value() const {
    if (!args_.contains("value")) throw invalid_argument("value is missing");
    return args_["value"];
  }

  std::int64_t by() const { return integer("by").value_or(1); }

  std::uint32_t limit() const {
    const auto given = integer("limit").value_or(1000);
    if (given < 1 || given > 1000) {
      throw invalid_argument("limit must be an integer from 1 to 1000");
    }
    return static_cast<std::uint32_t>(given);
  }

  std::string text(const char* name) const {
    const auto* value = find(name);
    if (!value) return {};
    if (!value->is_string()) {
      throw invalid_argument(std::string(name) + " must be a string");
    }
    return *value;
  }

  std::vector<std::string> keys() const {
    const auto* value = find("keys");
    if (!value || !value->is_array()) {
      throw invalid_argument("keys must be an array of strings");
    }
    std::vector<std::string> keys;
    for (const auto& each : *value) {
      if (!each.is_string()) {
        throw invalid_argument("keys must be an array of strings");
      }
      keys.push_back(each);
    }
    return keys;
  }

 private:
  /// Null counts as absent.
  const Json* find(const char* name) const {
    const auto it = args_.find(name);
    return it == args_.end() || it->is_null() ? nullptr : &*it;
  }

  std::optional<std::int64_t> integer(const char* name) const {
    const auto* value = find(name);
    if (!value) return std::nullopt;
    const auto wrong = invalid_argument(std::string(name) +
                                        " must be an integer within ±(2^53 - "
                                        "1)");
    if (!value->is_number()) throw wrong;
    const auto number = value->get<double>();
    constexpr double kMost = 9007199254740991.0;
    if (std::trunc(number) != number || std::abs(number) > kMost) throw wrong;
    return static_cast<std::int64_t>(number);
  }

  const Json& args_;
};

WireReply get(KvScope& kv, const Arguments& args) {
  const auto entry = kv.get(args.key()).value();
  return entry ? result(entry->value.text()) : WireReply{200, "{}", "ok"};
}

WireReply set(KvScope& kv, const Arguments& args) {
  (void)kv.set(args.key(), args.value(), {.ttl = args.ttl()}).value();
  return {200, "{}", "ok"};
}

WireReply remove(KvScope& kv, const Arguments& args) {
  (void)kv.remove(args.key()).value();
  return {200, "{}", "ok"};
}

WireReply has(KvScope& kv, const Arguments& args) {
  return result(kv.has(args.key()).value() ? "true" : "false");
}

/// A cursor of this wire is the last key of a page, as the client library's
/// own tests want it.
WireReply keys(KvScope& kv, const Arguments& args) {
  const auto page = kv.keys({.prefix = args.text("prefix"),
                             .limit = args.limit(),
                             .after = args.text("cursor")})
                        .value();
  std::string json = R"({"keys":[)";
  for (const auto& each : page.keys) {
    if (json.back() != '[') json += ',';
    json += json_quoted(each.key);
  }
  json += ']';
  if (!page.cursor.empty()) {
    json += R"(,"cursor":)" + json_quoted(page.keys.back().key);
  }
  return result(json + '}');
}

WireReply count(KvScope& kv, const Arguments& args, bool up) {
  const KvCounterOptions options{.by = args.by(), .ttl = args.ttl()};
  const auto sum = up ? kv.increment(args.key(), options)
                      : kv.decrement(args.key(), options);
  return result(std::to_string(sum.value()));
}

WireReply mget(KvScope& kv, const Arguments& args) {
  std::string json = "{";
  const auto entries = kv.mget(args.keys());
  for (const auto& [key, entry] : entries.value()) {
    if (json.size() > 1) json += ',';
    json += json_quoted(key) + ':' + entry.value.text();
  }
  return result(json + '}');
}

WireReply scope(KvScope& kv, const Caller& caller) {
  const auto usage = kv.usage().value();
  const Json info = {{"userId", caller.wire_user},
                     {"mcpId", caller.app},
                     {"usedBytes", usage.used_bytes},
                     {"limitBytes", usage.limit_bytes},
                     {"keyCount", usage.key_count}};
  return result(Document::from_json(info).value().text());
}

WireReply perform(KvScope& kv, std::string_view op, const Json& args,
                  const Caller& caller) {
  if (op == "get") return get(kv, {args, {"key"}});
  if (op == "set") return set(kv, {args, {"key", "value", "ttl"}});
  if (op == "delete") return remove(kv, {args, {"key"}});
  if (op == "has") return has(kv, {args, {"key"}});
  if (op == "keys") return keys(kv, {args, {"prefix", "limit", "cursor"}});
  if (op == "mget") return mget(kv, {args, {"keys"}});
  if (op == "scope") {
    const Arguments none(args, {});
    return scope(kv, caller);
  }
  return count(kv, {args, {"key", "by", "ttl"}}, op == "increment");
}

/// What the caller says of itself must be what its token says.
void check_context(const Json& request, const Caller& caller) {
  if (caller.app.empty()) {
    throw invalid_context(403, "mcpId",
                          "is unknown: the token belongs to no app");
  }
  const auto context = request.find("context");
  const bool is_object = context != request.end() && context->is_object();
  for (const auto& [field, own] :
       {std::pair{"userId", &caller.wire_user}, {"mcpId", &caller.app}}) {
    const bool given =
        is_object && context->contains(field) && (*context)[field].is_string();
    if (!given) throw invalid_context(400, field, "must be a string");
    if ((*context)[field] != *own) {
      throw invalid_context(403, field, "is not that of the token");
    }
  }
}

const Json& arguments_in(const Json& request) {
  static const Json none = Json::object();
  for (const auto& [name, value] : request.items()) {
    if (name != "context" && name != "args") {
      throw invalid_argument(
          "the body is {\"context\":{…},\"args\":{…}} and nothing else");
    }
  }
  const auto args = request.find("args");
  if (args == request.end() || args->is_null()) return none;
  if (!args->is_object()) throw invalid_argument("args must be an object");
  return *args;
}

}  // namespace

bool is_state_op(std::string_view op) {
  for (const std::string_view each :
       {"get", "set", "delete", "has", "keys", "increment", "decrement", "mget",
        "scope"}) {
    if (op == each) return true;
  }
  return false;
}

WireReply answer_state_op(HandleStore& store, std::string_view op,
                          std::string_view body, const Caller& caller) {
  Json args;
  try {
    if (!is_state_op(op)) throw invalid_argument("there is no such operation");
    const auto request = Document::parse(body);
    if (!request.ok()) throw invalid_argument(request.error().message);
    if (!request->json().is_object()) {
      throw invalid_argument("the body must be a JSON object");
    }
    check_context(request->json(), caller);
    args = arguments_in(request->json());
    const auto kv = store.scope(caller.user, caller.app).value();
    return perform(*kv, op, args, caller);
  } catch (const Refusal& refusal) {
    return reply(refusal, "invalid_input");
  } catch (const Error& error) {
    return reply(refusal_of(error, args), std::string(name(error.code)));
  }
}

WireReply wire_failure(int status, std::string_view code,
                       std::string_view message) {
  return reply({status, std::string(code), std::string(message)},
               code == "UNAUTHENTICATED" ? "unauthenticated" : "invalid_input");
}

WireReply wire_failure(const Error& error) {
  return reply(refusal_of(error, Json::object()),
               std::string(name(error.code)));
}

}  // namespace satchel::tools::serve
