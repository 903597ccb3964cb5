#include "patch_ops.h"

#include <array>
#include <optional>
#include <utility>

#include "json_write.h"

namespace satchel {
namespace {

struct Form {
  std::string_view name;
  OpKind kind;
  bool key;
  /// Name of the member that holds the op's value; empty: none.
  std::string_view value;
};

constexpr std::array<Form, 7> kForms = {{
    {"append", OpKind::append, false, "value"},
    {"set_key", OpKind::set_key, true, "value"},
    {"del_key", OpKind::del_key, true, ""},
    {"merge", OpKind::merge, false, "mapping"},
    {"increment", OpKind::increment, true, "by"},
    {"add_to_set", OpKind::add_to_set, false, "value"},
    {"remove_value", OpKind::remove_value, false, "value"},
}};

const Form* find_form(std::string_view name) {
  for (const Form& form : kForms)
    if (form.name == name) return &form;
  return nullptr;
}

/// Reads one op; `failure` says why it could not.
class OpReader {
 public:
  OpReader(const Json& op, std::size_t index) : source_(op), index_(index) {}

  Result<PatchOp> read() {
    if (!source_.is_object()) return refuse("wrong_type", "It is no object");
    const Json* kind = member("op");
    if (!kind) return refuse("missing_member", "The member \"op\" is missing");
    if (!kind->is_string())
      return refuse("wrong_type", "The member \"op\" must be a string");
    name_ = kind->get_ref<const std::string&>();
    const Form* form = find_form(name_);
    if (!form)
      return refuse("unknown_op",
                    "The ops are append, set_key, del_key, merge, increment, "
                    "add_to_set and remove_value");
    op_.kind = form->kind;
    if (auto error = read_path(*form)) return *std::move(error);
    if (auto error = read_members(*form)) return *std::move(error);
    if (auto error = refuse_unknown(*form)) return *std::move(error);
    return std::move(op_);
  }

 private:
  std::optional<Error> read_path(const Form& form) {
    const Json* path = member("path");
    if (!path) {
      if (form.kind == OpKind::merge) return std::nullopt;
      return missing("path");
    }
    if (!path->is_string()) return wrong("path", "a string");
    op_.path_text = path->get_ref<const std::string&>();
    ParsedPath parsed = parse_path(op_.path_text);
    if (!parsed.reason.empty())
      return refuse(parsed.reason,
                    "The path is malformed: a path is dotted without empty "
                    "parts, or a JSON Pointer that begins with '/', of at most "
                    "128 parts");
    op_.path = std::move(parsed.path);
    return std::nullopt;
  }

  std::optional<Error> read_members(const Form& form) {
    if (form.key) {
      const Json* key = member("key");
      if (!key) return missing("key");
      if (!key->is_string()) return wrong("key", "a string");
      op_.key = key->get_ref<const std::string&>();
    }
    if (!form.value.empty()) {
      const Json* value = member(form.value);
      if (!value) return missing(form.value);
      if (form.kind == OpKind::merge && !value->is_object())
        return wrong(form.value, "an object");
      if (form.kind == OpKind::increment && !value->is_number())
        return wrong(form.value, "a number");
      op_.value = *value;
      op_.value_depth = depth_of(op_.value);
    }
    if (const Json* create = member("create")) {
      if (!create->is_boolean()) return wrong("create", "true or false");
      op_.create = create->get<bool>();
    }
    return std::nullopt;
  }

  std::optional<Error> refuse_unknown(const Form& form) const {
    for (const auto& [key, value] : source_.get_ref<const Json::object_t&>()) {
      if (key == "op" || key == "path" || key == "create") continue;
      if (form.key && key == "key") continue;
      if (!form.value.empty() && key == form.value) continue;
      return refuse("unknown_member", "It has a member \"" + clipped(key, 64) +
                                          "\", which this op does not know");
    }
    return std::nullopt;
  }

  const Json* member(std::string_view key) const {
    const std::size_t at = find_member(source_, key);
    return at == kNoMember ? nullptr
                           : &std::as_const(source_)
                                  .get_ref<const Json::object_t&>()
                                  .begin()[static_cast<std::ptrdiff_t>(at)]
                                  .second;
  }

  Error missing(std::string_view member) const {
    return refuse("missing_member",
                  "The member \"" + std::string(member) + "\" is missing");
  }
  Error wrong(std::string_view member, std::string_view type) const {
    return refuse("wrong_type", "The member \"" + std::string(member) +
                                    "\" must be " + std::string(type));
  }
  Error refuse(std::string_view reason, std::string_view advice) const {
    return refuse_op(name_, index_, op_.path_text, reason, advice);
  }

  const Json& source_;
  std::size_t index_;
  std::string name_;
  PatchOp op_;
};

}  // namespace

std::string_view name(OpKind kind) noexcept {
  return kForms[static_cast<std::size_t>(kind)].name;
}

std::string clipped(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80)
    --limit;
  return std::string(text.substr(0, limit)) + "…";
}

Error refuse_op(std::string_view op, std::size_t index, std::string_view path,
                std::string_view reason, std::string_view advice) {
  Json details = Json::object();
  details["op"] = clipped(op, 64);
  details["index"] = index;
  details["path"] = clipped(path, 1024);
  details["reason"] = reason;
  std::string message = "Op " + std::to_string(index) + " of the patch";
  if (!op.empty()) message += " (" + clipped(op, 64) + ")";
  message += " cannot be applied, so nothing was. ";
  message += advice;
  message += ".";
  return Error(ErrorCode::patch_error, std::move(message), std::move(details));
}

Result<std::vector<PatchOp>> parse_ops(const Document& ops) {
  const Json& tree = ops.json();
  const auto refuse = [](std::string message) {
    return Error(ErrorCode::invalid_input, std::move(message),
                 Json{{"field", "ops"}});
  };
  if (!tree.is_object() && !tree.is_array())
    return refuse("A patch is one op (an object) or an array of ops.");
  const std::size_t count = tree.is_array() ? tree.size() : 1;
  if (count > kMaxOps)
    return refuse("A patch has at most " + std::to_string(kMaxOps) +
                  " ops; this one has " + std::to_string(count) +
                  ". Send several patches.");
  std::vector<PatchOp> list;
  list.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto op = OpReader(tree.is_array() ? tree[i] : tree, i).read();
    if (!op) return std::move(op).error();
    list.push_back(*std::move(op));
  }
  return list;
}

}  // namespace satchel
