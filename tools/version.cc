#include "satchel/version.h"

#include "tools/arguments.h"

namespace satchel::tools {
namespace {

Outcome version(const Run& run) {
  const Versions v = versions();
  if (run.globals.json) return {to_object(v) + '\n', {}, 0};
  return {"satchel " + v.program + " (format " + std::to_string(v.format) +
              ", RocksDB " + v.rocksdb + ")\n",
          {},
          0};
}

}  // namespace

void add_version(CLI::App& app, Run& run) {
  CLI::App* command =
      add_command(app, "version", "Print program, format and RocksDB version",
                  "satchel version --json");
  run.actions[command] = [&run] { return version(run); };
}

}  // namespace satchel::tools
