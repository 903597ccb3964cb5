#include <memory>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/open.h"

namespace satchel::tools {
namespace {

Outcome sweep(Run& run, bool accept_clock) {
  const std::string user = user_name(run.globals.user);
  writer_name(run.globals.writer);
  const auto store = open_to_write(run);
  const std::uint64_t removed = store->sweep(user, accept_clock).value();
  store->close().value();
  if (run.globals.json) return {swept_object(removed) + '\n', {}, 0};
  return {"removed " + std::to_string(removed) +
              (removed == 1 ? " expired handle\n" : " expired handles\n"),
          {},
          0};
}

}  // namespace

void add_sweep(CLI::App& app, Run& run) {
  const auto accept = std::make_shared<bool>(false);
  CLI::App* command =
      add_command(app, "sweep", "Remove the user's expired handles",
                  "satchel --user alice sweep");
  add_switch(command, "--accept-clock", *accept,
             "The clock is right, whatever the store believes");
  run.actions[command] = [accept, &run] { return sweep(run, *accept); };
}

}  // namespace satchel::tools
