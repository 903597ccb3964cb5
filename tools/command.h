#pragma once
// What the commands of the program have in common.

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace satchel::tools {

/// What a command wants printed. Printing comes last, after the store is
/// closed: a reader that goes away cannot interrupt a write.
struct Outcome {
  std::string out;
  /// For people, on stderr.
  std::string err;
  int exit_code = 0;
};

/// Options that may stand before or after every command.
struct Globals {
  std::optional<std::string> store;
  std::optional<std::string> user;
  std::optional<std::string> writer;
  std::optional<std::string> durability;
  bool json = false;
  /// Instead of any command.
  bool version = false;
};

/// One run of the program. The commands' functions throw Error.
struct Run {
  Globals globals;
  /// Whether the command line was understood, so that `globals` is true.
  bool parsed = false;
  /// The store's place in words once it is known; for stderr only.
  std::string place;
  std::map<const CLI::App*, std::function<Outcome()>> actions;
};

/// Each adds one command to `app`. The function that runs it lands in
/// `run.actions`; `run` outlives it.
void add_mint(CLI::App& app, Run& run);
void add_get(CLI::App& app, Run& run);
void add_save(CLI::App& app, Run& run);
void add_patch(CLI::App& app, Run& run);
void add_touch(CLI::App& app, Run& run);
void add_list(CLI::App& app, Run& run);
void add_revoke(CLI::App& app, Run& run);
void add_sweep(CLI::App& app, Run& run);
void add_history(CLI::App& app, Run& run);
void add_changes(CLI::App& app, Run& run);
void add_revert(CLI::App& app, Run& run);
void add_kv(CLI::App& app, Run& run);
void add_serve(CLI::App& app, Run& run);
void add_demo(CLI::App& app, Run& run);
void add_version(CLI::App& app, Run& run);
void add_help(CLI::App& app, Run& run);

}  // namespace satchel::tools
