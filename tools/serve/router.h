#pragma once
// From an HTTP request to its reply: which resource it names, who sends it,
// and what answers.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "tools/serve/authenticate.h"
#include "tools/serve/http_rules.h"
#include "tools/serve/http_types.h"
#include "tools/serve/protocol.h"
#include "tools/serve/services.h"
#include "tools/serve/well_known.h"

namespace satchel::tools::serve {

enum class Route : std::uint8_t { mcp, state, live, ready };

/// What the head of a request leads to.
struct Plan {
  /// The whole answer, when the head decides it.
  std::optional<HttpReply> reply{};
  Route route = Route::mcp;
  /// The op of the state wire.
  std::string op{};
};

/// Thread-safe.
class Router {
 public:
  /// All but the settings outlive this.
  Router(std::string endpoint, HostRules hosts, Authenticator& authenticator,
         Protocol& protocol, Services& services);

  /// Reads no more than the head and blocks on nothing.
  Plan plan(const HttpHead& head) const;

  using Admission = std::variant<HttpReply, Caller, NeedsKeys>;
  /// Who sends the request, or the refusal. Routes live and ready need nobody.
  Admission admit(const Plan& plan, const HttpHead& head, bool again) const;

  /// Answers; may block on the disk.
  HttpReply answer(const Plan& plan, const HttpHead& head, std::string body,
                   const Caller& caller) const;

  /// The refusal of a request that was not read, in its route's form.
  HttpReply failure(const Plan& plan, int status,
                    const std::string& message) const;
  HttpReply too_large(const Plan& plan, std::uint64_t bytes,
                      std::uint64_t limit) const;

  /// What every reply to `head` carries besides its own headers.
  void finish(const HttpHead& head, HttpReply& reply) const;

 private:
  std::optional<HttpReply> preflight(const HttpHead& head) const;
  HttpReply refuse(const Plan& plan, const HttpHead& head,
                   const AuthRefusal& refusal) const;
  HttpReply answer_mcp(const HttpHead& head, std::string body,
                       const Caller& caller) const;
  HttpReply answer_state(const std::string& op, const std::string& body,
                         const Caller& caller) const;
  HttpReply answer_ready() const;
  void record(const Plan& plan, const std::string& outcome,
              const Caller& caller) const;

  const std::string endpoint_;
  const HostRules hosts_;
  const WellKnown well_known_;
  Authenticator& authenticator_;
  Protocol& protocol_;
  Services& services_;
};

}  // namespace satchel::tools::serve
