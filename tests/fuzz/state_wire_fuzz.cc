// Calls of the state wire, on a store of its own.

#include <algorithm>

#include "satchel/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_store.h"
#include "tools/serve/raw_json.h"
#include "tools/serve/state_wire.h"

namespace satchel::fuzz {
namespace {

using namespace tools::serve;

void check_reply(const WireReply& reply) {
  const Scan seen = scan(reply.body);
  require(seen.json && !seen.duplicate);
  require(kind_of(reply.body) == JsonKind::object);
  if (reply.status == 200) return require(reply.outcome == "ok");
  constexpr std::string_view kCodes[] = {
      "QUOTA_EXCEEDED", "VALUE_TOO_LARGE", "INVALID_KEY",     "INVALID_TTL",
      "TYPE_MISMATCH",  "INVALID_CONTEXT", "INVALID_ARGUMENT"};
  const auto code = text_of(member_of(reply.body, "code").value()).value();
  require(std::find(std::begin(kCodes), std::end(kCodes), code) !=
          std::end(kCodes));
  const bool size = code == "QUOTA_EXCEEDED" || code == "VALUE_TOO_LARGE";
  require(reply.status == (size ? 413 : 400) ||
          (code == "INVALID_CONTEXT" && reply.status == 403));
  require(!text_of(member_of(reply.body, "message").value())->empty());
}

}  // namespace

void state_wire(std::string_view input) {
  // Never destroyed: a store does not outlive main().
  static HandleStore* const store = memory_store().release();
  Caller caller;
  caller.user = "jwt:fuzz";
  caller.wire_user = "u";
  caller.app = "a";
  const auto split = std::min(input.find('\n'), input.size());
  const auto body = input.substr(std::min(split + 1, input.size()));
  check_reply(answer_state_op(*store, input.substr(0, split), body, caller));
}

}  // namespace satchel::fuzz
