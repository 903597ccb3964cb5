#include <memory>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/escape.h"
#include "tools/open.h"
#include "tools/output.h"

namespace satchel::tools {
namespace {

std::string text_of(const History& history) {
  Table table{{"VERSION", "WHAT", "WHEN (UTC)", "WRITER"}, {}, {3}};
  for (const VersionInfo& v : history.versions) {
    table.rows.push_back({std::to_string(v.version), std::string(name(v.what)),
                          date_text(v.at), escaped(v.writer)});
  }
  std::string text = table.text(terminal_width());
  if (history.oldest > 1) {
    text += "older versions than " + std::to_string(history.oldest) +
            " are no longer kept\n";
  }
  return text;
}

Outcome history(Run& run, const std::string& handle) {
  const std::string user = user_name(run.globals.user);
  writer_name(run.globals.writer);
  const auto store = open_to_read(run);
  const History history = store->history(handle, user).value();
  return {
      run.globals.json ? to_object(history) + '\n' : text_of(history), {}, 0};
}

}  // namespace

void add_history(CLI::App& app, Run& run) {
  const auto handle = std::make_shared<std::string>();
  CLI::App* command =
      add_command(app, "history", "Show which versions can be read back",
                  "satchel history research_k2v7m4qz");
  add_positional(command, "HANDLE", *handle, "As mint or list printed it");
  run.actions[command] = [handle, &run] { return history(run, *handle); };
}

}  // namespace satchel::tools
