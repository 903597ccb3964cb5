#include <memory>
#include <sstream>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/escape.h"
#include "tools/open.h"
#include "tools/output.h"

namespace satchel::tools {
namespace {

struct Arguments {
  std::string handle;
  std::optional<std::string> since;
};

constexpr const char* kIndent = "         ";

/// One row a version, its ops below it.
std::string table_text(const Changes& changes) {
  Table table{{"VERSION", "WHAT", "WHEN (UTC)", "WRITER"}, {}, {3}};
  for (const Changes::Entry& entry : changes.entries) {
    table.rows.push_back({std::to_string(entry.version),
                          std::string(name(entry.what)), date_text(entry.at),
                          escaped(entry.writer)});
  }
  const auto width = terminal_width();
  std::istringstream lines(table.text(width));
  std::string line;
  std::getline(lines, line);
  std::string out = line + '\n';
  for (const Changes::Entry& entry : changes.entries) {
    std::getline(lines, line);
    out += line + '\n';
    for (const Json& op : entry.ops.json()) {
      const std::string text = kIndent + escaped(op.dump());
      out += (width ? fitted(text, *width) : text) + '\n';
    }
  }
  return out;
}

std::string text_of(const Changes& changes) {
  const std::string since = std::to_string(changes.since);
  const std::string version = std::to_string(changes.version);
  switch (changes.kind) {
    case Changes::Kind::changes:
      if (changes.entries.empty()) {
        return "nothing changed since version " + since + '\n';
      }
      return table_text(changes);
    case Changes::Kind::replaced:
      return "the whole state was replaced since version " + since +
             "; version " + version + " is:\n" + pretty_state(changes.state);
    case Changes::Kind::too_old:
      return "changes are kept from version " + std::to_string(changes.oldest) +
             " on, not since " + since + "; version " + version + " is:\n" +
             pretty_state(changes.state);
  }
  return {};
}

Outcome changes(Run& run, const Arguments& a) {
  if (!a.since) {
    throw invalid("since",
                  "changes needs --since N, the version that you know; 0 is "
                  "before the first");
  }
  const std::uint64_t since = parse_number(*a.since, "--since", "since");
  const std::string user = user_name(run.globals.user);
  writer_name(run.globals.writer);
  const auto store = open_to_read(run);
  const Changes found = store->changes_since(a.handle, since, user).value();
  return {run.globals.json ? to_object(found) + '\n' : text_of(found), {}, 0};
}

}  // namespace

void add_changes(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* command =
      add_command(app, "changes", "Show what happened after a version",
                  "satchel changes research_k2v7m4qz --since 3");
  add_positional(command, "HANDLE", a->handle, "As mint or list printed it");
  add_value(command, "--since", a->since, "Required: the version you know",
            "N");
  run.actions[command] = [a, &run] { return changes(run, *a); };
}

}  // namespace satchel::tools
