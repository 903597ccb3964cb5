#include "tools/serve/refusals.h"

#include <string>

namespace satchel::tools::serve {
namespace {

constexpr std::string_view kNotSaved = "; the save was not applied";

/// Hosts that spell "no handle" as text.
bool spells_nothing(std::string_view handle) {
  return handle.empty() || handle == "null" || handle == "undefined" ||
         handle == "None";
}

std::string not_found(const Error& error, std::string_view handle) {
  std::string text =
      "There is no state with this handle. Call state_list to see the handles "
      "that exist, or state_save without handle to create one";
  if (spells_nothing(handle)) {
    text += " (leave the argument handle out; do not send " +
            (handle.empty() ? std::string("an empty string")
                            : "the text \"" + std::string(handle) + "\"") +
            ")";
  }
  if (error.message.ends_with(kNotSaved)) text += kNotSaved;
  return text + '.';
}

std::string expired(const Error& error) {
  std::string text = "This state expired at " +
                     error.details.value("expired_at", "") +
                     " and is gone. Call state_save without handle to begin "
                     "anew";
  if (error.message.ends_with(kNotSaved)) text += kNotSaved;
  return text + '.';
}

std::string stale(const Error& error) {
  std::uint64_t version = 0;
  const auto& details = error.details;
  if (const auto current = details.find("current");
      current != details.end() && current->is_object()) {
    version = current->value("version", std::uint64_t{0});
  }
  const std::string now = std::to_string(version);
  return "Your save was not applied: somebody wrote first, the version is "
         "now " +
         now +
         ". Merge your change into error.current.state and call state_save "
         "again with expect_version " +
         now + ", or make the change with state_patch, which needs no version.";
}

/// The library's field and words for an argument, as the tools call it.
void rename(Error* error, const char* from, const char* to) {
  auto& details = error->details;
  if (details.value("field", "") != from) return;
  details["field"] = to;
  for (std::size_t at = 0;
       (at = error->message.find(std::string("a ") + from, at)) !=
       std::string::npos;) {
    error->message.replace(at, 2 + std::string_view(from).size(), to);
  }
}

}  // namespace

Error for_model(const Error& error, std::string_view handle) {
  Error out = error;
  switch (error.code) {
    case ErrorCode::handle_not_found:
      out.message = not_found(error, handle);
      break;
    case ErrorCode::handle_expired:
      out.message = expired(error);
      break;
    case ErrorCode::stale_write:
      out.message = stale(error);
      break;
    case ErrorCode::store_locked:
      out.message =
          "Another program on this machine is using the store. Try again in a "
          "moment; if it stays so, tell the user to end the other program.";
      break;
    default:
      break;
  }
  if (out.details.is_object()) {
    rename(&out, "ttl", "ttl_days");
    rename(&out, "since", "since_version");
  }
  return out;
}

}  // namespace satchel::tools::serve
