#include <memory>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/open.h"
#include "tools/output.h"
#include "tools/ttl.h"

namespace satchel::tools {
namespace {

struct Arguments {
  std::string kind;
  std::string state;
  std::optional<std::string> ttl;
  MutationArguments mutation;
};

Outcome mint(Run& run, const Arguments& a) {
  MintOptions options;
  options.user = user_name(run.globals.user);
  options.writer = writer_name(run.globals.writer);
  options.ttl = ttl_of(a.ttl, false);
  options.request_id = a.mutation.id();
  options.return_state = a.mutation.return_state;
  const JsonInput state = read_json(a.state, "state").value();
  const auto store = open_to_write(run);
  const Snapshot made = store->mint(a.kind, state, options).value();
  store->close().value();
  if (run.globals.json) return {to_object(made) + '\n', {}, 0};
  return {made.handle + '\n' + (made.state ? pretty_state(*made.state) : ""),
          {},
          0};
}

}  // namespace

void add_mint(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app, "mint", "Keep a new state and print its handle",
      "satchel mint research '{\"topic\":\"tides\",\"sources\":[]}' --ttl 7d");
  add_positional(command, "KIND", a->kind,
                 "Label: a-z, then a-z 0-9 - (at most 32)");
  add_positional(command, "STATE", a->state,
                 "A JSON object, - for stdin, or @FILE");
  add_value(command, "--ttl", a->ttl,
            "Expire after so long (90s 15m 12h 7d); else never", "T");
  add_mutation_options(command, a->mutation);
  run.actions[command] = [a, &run] { return mint(run, *a); };
}

}  // namespace satchel::tools
