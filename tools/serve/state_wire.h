#pragma once
// The key-value API on HTTP: POST /v1/state/<op>, the wire of the client
// library @guuey/state, which works against it unchanged.

#include <string>
#include <string_view>

#include "satchel/store.h"
#include "tools/serve/caller.h"

namespace satchel::tools::serve {

struct WireReply {
  int status = 200;
  /// One JSON object.
  std::string body;
  /// For the audit log: "ok" or the failure's code of the library.
  std::string outcome = "ok";
};

/// Whether `op` is one of the wire's operations.
bool is_state_op(std::string_view op);

/// Answers one call. `body` is {"context":{"userId","mcpId"},"args":{…}}, where
/// the context must be the caller's own. May block on the disk; thread-safe.
WireReply answer_state_op(HandleStore& store, std::string_view op,
                          std::string_view body, const Caller& caller);

/// A failure in the wire's form, for what goes wrong before a call is answered.
WireReply wire_failure(int status, std::string_view code,
                       std::string_view message);
/// The store cannot be used: UNAVAILABLE.
WireReply wire_failure(const Error& error);

}  // namespace satchel::tools::serve
