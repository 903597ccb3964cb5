#pragma once
// The command line as a whole: global options, help, wrong usage.

#include <memory>
#include <string>
#include <vector>

#include "tools/command.h"

namespace satchel::tools {

/// The parser with every command. `run` outlives it.
std::unique_ptr<CLI::App> make_parser(Run& run);

/// Parses `arguments` (without the program's name) and returns the command
/// that was asked for; none when nothing was given. Throws invalid_input
/// (arguments) for wrong usage, CLI::Success for a request of help.
CLI::App* parse(CLI::App& app, std::vector<std::string> arguments);

/// The help text of the program or, named word by word, of a command; throws
/// wrong usage for a command that does not exist.
std::string help_text(CLI::App& app, const std::vector<std::string>& command);

/// The words that `command` is called by: none for the program itself.
std::vector<std::string> words_of(const CLI::App* command);

/// Whether "--json" stands among the options of `arguments`, also when the
/// rest cannot be parsed.
bool asks_for_json(const std::vector<std::string>& arguments);

}  // namespace satchel::tools
