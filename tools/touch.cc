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
  std::string handle;
  std::optional<std::string> ttl;
  bool persist = false;
  MutationArguments mutation;
};

Outcome touch(Run& run, const Arguments& a) {
  if (!a.ttl && !a.persist) {
    throw invalid("ttl",
                  "touch needs --ttl T (for example --ttl 7d) or --persist");
  }
  TouchOptions options;
  options.user = user_name(run.globals.user);
  options.writer = writer_name(run.globals.writer);
  options.ttl = ttl_of(a.ttl, a.persist);
  options.request_id = a.mutation.id();
  options.return_state = a.mutation.return_state;
  const auto store = open_to_write(run);
  const Snapshot touched = store->touch(a.handle, options).value();
  store->close().value();
  if (run.globals.json) return {to_object(touched) + '\n', {}, 0};
  return {mutation_text("renewed", touched), {}, 0};
}

}  // namespace

void add_touch(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* command = add_command(app, "touch", "Set when a handle expires",
                                  "satchel touch research_k2v7m4qz --ttl 30d");
  add_positional(command, "HANDLE", a->handle, "As mint or list printed it");
  add_value(command, "--ttl", a->ttl,
            "Expire this long from now: 90s 15m 12h 7d", "T");
  add_switch(command, "--persist", a->persist, "Never expire");
  add_mutation_options(command, a->mutation);
  run.actions[command] = [a, &run] { return touch(run, *a); };
}

}  // namespace satchel::tools
