#pragma once
// Who makes a call, as a transport proved it.

#include <string>

namespace satchel::tools::serve {

struct Caller {
  /// The user of the store.
  std::string user;
  /// The client that the token names; empty: none is proven.
  std::string client;
  /// Label of what is written when a call has no argument `writer`.
  std::string writer;
  /// The state wire's userId and mcpId; empty where there are none.
  std::string wire_user;
  std::string app;
  bool http = false;
};

}  // namespace satchel::tools::serve
