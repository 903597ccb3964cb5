#include "tools/serve/prompts.h"

#include <algorithm>

#include "tools/serve/raw_json.h"

namespace satchel::tools::serve {
namespace {

constexpr std::string_view kDescription =
    "Find the user's earlier work and offer to go on with it";

bool is_kind(std::string_view text) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && text.size() <= 32 && lower(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return lower(c) || (c >= '0' && c <= '9') || c == '-';
         });
}

/// The argument `kind`, checked: it becomes part of what a model reads.
std::string kind_argument(const Message& request) {
  const auto arguments = member_of(request.params, "arguments");
  if (!arguments || kind_of(*arguments) == JsonKind::null) return {};
  if (kind_of(*arguments) != JsonKind::object) {
    throw rpc_error(rpc::kInvalidParams, "arguments must be an object");
  }
  const auto raw = member_of(*arguments, "kind");
  if (!raw || kind_of(*raw) == JsonKind::null) return {};
  const auto kind = text_of(*raw);
  if (kind && kind->empty()) return {};
  if (!kind || !is_kind(*kind)) {
    throw rpc_error(rpc::kInvalidParams,
                    "kind is 1 to 32 characters of a-z, 0-9 and '-' and begins "
                    "with a letter");
  }
  return *kind;
}

}  // namespace

std::string prompt_list() {
  return "\"prompts\":[{\"name\":\"resume\",\"title\":\"Resume earlier "
         "work\",\"description\":" +
         json_quoted(kDescription) +
         ",\"arguments\":[{\"name\":\"kind\",\"description\":\"Only work of "
         "this kind, for example research\",\"required\":false}]}]";
}

std::string get_prompt(const Message& request) {
  if (request.param("name") != "resume") {
    throw rpc_error(rpc::kInvalidParams,
                    "There is no such prompt; the only one is resume");
  }
  const std::string kind = kind_argument(request);
  const std::string text =
      "Call state_list" +
      (kind.empty() ? std::string() : " with kind \"" + kind + "\"") +
      " to see what earlier work of mine is kept. Tell me briefly what there "
      "is: kind, handle, and when it was updated. Then ask which of it I want "
      "to go on with. When I choose, read it with state_load, sum up where we "
      "were, and keep it up to date with state_patch while we work. If there "
      "is nothing, say so and offer to begin something new.";
  return "\"description\":" + json_quoted(kDescription) +
         ",\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
         "\"text\":" +
         json_quoted(text) + "}}]";
}

}  // namespace satchel::tools::serve
