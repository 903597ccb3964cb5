#include <memory>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/open.h"
#include "tools/output.h"

namespace satchel::tools {
namespace {

struct Arguments {
  std::string handle;
  std::optional<std::string> to;
  std::optional<std::string> expect_version;
  MutationArguments mutation;
};

Outcome revert(Run& run, const Arguments& a) {
  if (!a.to) {
    throw invalid("to_version",
                  "revert needs --to N; satchel history HANDLE lists the "
                  "versions");
  }
  const std::uint64_t to = parse_number(*a.to, "--to", "to_version");
  RevertOptions options;
  options.user = user_name(run.globals.user);
  options.writer = writer_name(run.globals.writer);
  options.expect_version =
      parse_number(a.expect_version, "--expect-version", "expect_version");
  options.request_id = a.mutation.id();
  options.return_state = a.mutation.return_state;
  const auto store = open_to_write(run);
  const Snapshot reverted = store->revert(a.handle, to, options).value();
  store->close().value();
  if (run.globals.json) return {to_object(reverted) + '\n', {}, 0};
  return {mutation_text("reverted", reverted), {}, 0};
}

}  // namespace

void add_revert(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* command =
      add_command(app, "revert", "Make an old state the newest version",
                  "satchel revert research_k2v7m4qz --to 2");
  add_positional(command, "HANDLE", a->handle, "As mint or list printed it");
  add_value(command, "--to", a->to, "Required: the version to go back to", "N");
  add_value(command, "--expect-version", a->expect_version,
            "Refuse when this is not the current version", "N");
  add_mutation_options(command, a->mutation);
  run.actions[command] = [a, &run] { return revert(run, *a); };
}

}  // namespace satchel::tools
