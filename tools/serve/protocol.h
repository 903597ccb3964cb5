#pragma once
// What an MCP server answers, whatever carries the messages: both eras, tools,
// resources, prompts.

#include <string>

#include "tools/serve/caller.h"
#include "tools/serve/message.h"

namespace satchel::tools::serve {

struct Services;

struct Answer {
  /// One JSON text without line breaks; empty when nothing is answered (HTTP:
  /// 202).
  std::string body;
  int http_status = 200;
};

/// Thread-safe. answer() may block on the disk unless is_quick().
class Protocol {
 public:
  /// `services` outlives this.
  explicit Protocol(Services& services);

  Answer answer(const Message& message, const Caller& caller);

  /// Whether answer() touches no store.
  static bool is_quick(const Message& message);

 private:
  Answer answer_batch(const Message& batch, const Caller& caller);
  /// `used`: bytes of the reply that others take.
  Answer answer_request(const Message& request, const Caller& caller,
                        std::size_t used = 0);

  Services& services_;
};

}  // namespace satchel::tools::serve
