// Messages of MCP, and what answers them: a server with a store of its own,
// new after some inputs so that they stay small.

#include "satchel/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_store.h"
#include "tools/serve/message.h"
#include "tools/serve/protocol.h"
#include "tools/serve/raw_json.h"
#include "tools/serve/services.h"

namespace satchel::fuzz {
namespace {

using namespace tools::serve;

constexpr int kInputsForAStore = 1000;

struct Server {
  StoreSource store{memory_store};
  Services services{store};
  Protocol protocol{services};
};

Server& server() {
  // Never destroyed: a store does not outlive main().
  static auto& current = *new std::unique_ptr<Server>;
  static int used = 0;
  if (!current || ++used % kInputsForAStore == 0) {
    current = std::make_unique<Server>();
  }
  return *current;
}

/// A response, or an array of them: one line of strict JSON, with one of
/// result and error in each.
void check_body(const std::string& body) {
  require(body.find('\n') == std::string::npos);
  const Scan seen = scan(body);
  require(seen.json && !seen.duplicate);
  const auto check_one = [](std::string_view response) {
    require(text_of(member_of(response, "jsonrpc").value()) == "2.0");
    const bool result = member_of(response, "result").has_value();
    require(result != member_of(response, "error").has_value());
  };
  if (kind_of(body) == JsonKind::object) return check_one(body);
  for (const auto one : items_of(body)) check_one(one);
}

/// What another reader takes as JSON ours takes too. (Ours also takes deeper
/// nesting, larger numbers and half surrogate pairs, which the store refuses in
/// its own words; the other one takes a byte order mark and stops at a zero.)
void check_scan(std::string_view text) {
  const bool plain =
      !text.starts_with("\xef\xbb\xbf") && text.find('\0') == text.npos;
  if (plain && Json::accept(text)) require(scan(text).json);
}

}  // namespace

void message(std::string_view input) {
  check_scan(input);
  const auto read = read_message(std::string(input));
  if (const auto* error = std::get_if<RpcError>(&read)) {
    require(error->http_status == 400);
    return check_body(error->body());
  }
  Caller caller;
  caller.user = "fuzz";
  const auto& sent = std::get<Message>(read);
  const auto answer = server().protocol.answer(sent, caller);
  if (sent.kind == MessageKind::request) {
    check_body(answer.body);
    require(member_of(answer.body, "id") == sent.id);
  } else if (!answer.body.empty()) {
    require(sent.kind == MessageKind::batch);
    check_body(answer.body);
  }
}

}  // namespace satchel::fuzz
