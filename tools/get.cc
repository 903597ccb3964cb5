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
  std::optional<std::string> path;
  std::optional<std::string> version;
};

Outcome get(Run& run, const Arguments& a) {
  GetOptions options;
  options.user = user_name(run.globals.user);
  writer_name(run.globals.writer);
  options.version = parse_number(a.version, "--version", "version");
  options.path = a.path;
  const auto store = open_to_read(run);
  const Snapshot snapshot = store->get(a.handle, options).value();
  if (run.globals.json) return {to_object(snapshot) + '\n', {}, 0};
  return {pretty_state(snapshot.state.value_or(Document())), {}, 0};
}

}  // namespace

void add_get(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* command =
      add_command(app, "get", "Print a state, or a part of it",
                  "satchel get research_k2v7m4qz --path sources");
  add_positional(command, "HANDLE", a->handle, "As mint or list printed it");
  add_value(command, "--path", a->path,
            "Only this part: profile.tags or /profile/tags/0", "P");
  add_value(command, "--version", a->version, "The state at an old version",
            "N");
  run.actions[command] = [a, &run] { return get(run, *a); };
}

}  // namespace satchel::tools
