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
  std::string state;
  std::optional<std::string> expect_version;
  std::optional<std::string> ttl;
  bool persist = false;
  MutationArguments mutation;
};

Outcome save(Run& run, const Arguments& a) {
  if (!a.expect_version) {
    throw invalid("expect_version",
                  "save needs --expect-version N, the version that the new "
                  "state was made from; satchel get HANDLE --json tells it");
  }
  SaveOptions options;
  options.user = user_name(run.globals.user);
  options.writer = writer_name(run.globals.writer);
  options.expect_version =
      parse_number(a.expect_version, "--expect-version", "expect_version");
  options.ttl = ttl_of(a.ttl, a.persist);
  options.request_id = a.mutation.id();
  options.return_state = a.mutation.return_state;
  const JsonInput state = read_json(a.state, "state").value();
  const auto store = open_to_write(run);
  const Snapshot saved = store->save(a.handle, state, options).value();
  store->close().value();
  if (run.globals.json) return {to_object(saved) + '\n', {}, 0};
  return {mutation_text("saved", saved), {}, 0};
}

}  // namespace

void add_save(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app, "save", "Replace a state, if nobody else changed it",
      "satchel save research_k2v7m4qz @notes.json --expect-version 3");
  add_positional(command, "HANDLE", a->handle, "As mint or list printed it");
  add_positional(command, "STATE", a->state,
                 "A JSON object, - for stdin, or @FILE");
  add_value(command, "--expect-version", a->expect_version,
            "Required: the version that was read", "N");
  add_value(command, "--ttl", a->ttl,
            "Expire this long from now (else the expiry stays)", "T");
  add_switch(command, "--persist", a->persist, "Never expire");
  add_mutation_options(command, a->mutation);
  run.actions[command] = [a, &run] { return save(run, *a); };
}

}  // namespace satchel::tools
