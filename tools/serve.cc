#include <chrono>
#include <optional>

#include "api/utf8.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/open.h"
#include "tools/output.h"
#include "tools/serve/http.h"
#include "tools/serve/options.h"
#include "tools/serve/principal.h"
#include "tools/serve/protocol.h"
#include "tools/serve/router.h"
#include "tools/serve/services.h"
#include "tools/serve/stdio.h"

namespace satchel::tools {
namespace {

using serve::ScopeBy;
using serve::ServeArguments;

/// On stderr; the server goes on when nobody reads there.
void tell(const std::string& text) {
  try {
    write_all(STDERR_FILENO, text);
  } catch (const WriteFailure&) {
  }
}

/// On HTTP a call waits a second for a store in use: others wait behind it.
serve::StoreSource::Open opener(Run& run, ScopeBy scope_by, bool http) {
  // The place and the durability are checked now, the store opened later.
  store_place(run.globals.store);
  durability(run.globals.durability);
  const char* identity =
      scope_by == ScopeBy::user_and_client ? "user+client" : "user";
  std::optional<std::chrono::milliseconds> lock_wait;
  if (http) lock_wait = std::chrono::seconds(1);
  // Called by one thread at a time.
  return [&run, identity, lock_wait, told = std::string()]() mutable {
    try {
      auto store = open_to_serve(run, identity, lock_wait);
      told.clear();
      return store;
    } catch (const Error& error) {
      // Once, not for each call of a client that tries on.
      const auto line = failure_line(error, run.place);
      if (line != told) tell(line);
      told = line;
      throw;
    }
  };
}

/// A store that is made for other users than these is no place to start with;
/// one that cannot be opened now may open later.
void open_at_start(serve::StoreSource& store) {
  try {
    store.get();
  } catch (const Error& error) {
    if (error.code == ErrorCode::invalid_input) throw;
  }
}

/// --writer or SATCHEL_WRITER, checked before anybody is served; "" for none.
std::string fixed_writer(const Globals& globals) {
  if (!globals.writer && !variable("SATCHEL_WRITER")) return {};
  auto writer = writer_name(globals.writer);
  if (writer.size() > 256 || !is_utf8(writer)) {
    throw invalid(
        "writer",
        "SATCHEL_WRITER (or --writer) is a label of at most 256 bytes "
        "of UTF-8");
  }
  return writer;
}

Outcome serve_http(const Globals& globals, const ServeArguments& a,
                   serve::Services& services) {
  serve::Protocol protocol(services);
  serve::Authenticator authenticator(
      a.http.authentication(a.identity(), fixed_writer(globals)));
  const auto settings = a.http.http(max_state_bytes());
  const serve::Router router(settings.path, a.http.hosts(), authenticator,
                             protocol, services);
  serve::HttpServer server(settings, router, authenticator);
  if (a.http.allow_anonymous) {
    warn(
        "--allow-anonymous: everyone who can reach this server reads and "
        "writes one shared bucket");
  }
  open_at_start(services.store);
  tell("satchel: listening on " + server.url() + '\n');
  server.run();
  services.store.close();
  return {};
}

/// Who calls on stdio: whoever started the program.
serve::Caller stdio_caller(const Globals& globals) {
  serve::Caller caller;
  caller.user = user_name(globals.user);
  if (serve::is_reserved_user(caller.user)) {
    throw invalid("user", "the user " + shown(caller.user) +
                              " begins like the name of somebody who was "
                              "proven on HTTP; give another SATCHEL_USER");
  }
  caller.writer = fixed_writer(globals);
  return caller;
}

Outcome serve_stdio(Run& run, serve::Services& services) {
  serve::Protocol protocol(services);
  serve::StdioSettings settings;
  settings.caller = stdio_caller(run.globals);
  settings.longest_line = 8 * max_state_bytes() + (std::size_t{1} << 20);
  serve::serve_stdio(protocol, settings);
  services.store.close();
  return {};
}

Outcome serve_command(Run& run, const ServeArguments& a) {
  const bool http = a.is_http();
  serve::StoreSource store(opener(run, a.identity(), http));
  const auto audit = a.audit();
  serve::Services services{store, a.policy(), audit.get()};
  return http ? serve_http(run.globals, a, services)
              : serve_stdio(run, services);
}

}  // namespace

void add_serve(CLI::App& app, Run& run) {
  const auto a = std::make_shared<ServeArguments>();
  CLI::App* command = add_command(
      app, "serve", "Serve the store to agents, as an MCP server",
      "satchel serve\n  satchel serve --transport http --tokens tokens.json");
  a->declare(command);
  run.actions[command] = [a, &run] { return serve_command(run, *a); };
}

}  // namespace satchel::tools
