#pragma once
// Declaring and reading what stands on the command line.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "satchel/document.h"
#include "satchel/error.h"
#include "tools/command.h"

namespace CLI {
class Option;
}  // namespace CLI

namespace satchel::tools {

// ---- declaring

/// A command with its help; `example` is one or more command lines.
CLI::App* add_command(CLI::App& app, const char* name, const char* what,
                      const std::string& example);
CLI::Option* add_positional(CLI::App* command, const char* name,
                            std::string& target, const char* what);
/// An option with one value; `target` is set when it is given, also to "".
CLI::Option* add_value(CLI::App* command, const char* name,
                       std::optional<std::string>& target, const char* what,
                       const char* shown);
CLI::Option* add_switch(CLI::App* command, const char* name, bool& target,
                        const char* what);

struct MutationArguments {
  std::optional<std::string> request_id;
  bool return_state = false;

  /// The id, "" for none. An empty one on the command line is refused.
  std::string id() const;
};
void add_mutation_options(CLI::App* command, MutationArguments& arguments);

// ---- refusing

/// Wrong usage: invalid_input(arguments).
Error wrong_usage(const std::string& message);
Error invalid(const char* field, const std::string& message);
/// A value from the command line as it can stand in a message: valid UTF-8,
/// nothing that moves the cursor, at most some 60 characters.
std::string shown(std::string_view value);

// ---- reading

/// A whole number in decimal digits; anything else is invalid(field) naming
/// `option`.
std::uint64_t parse_number(const std::string& text, const char* option,
                           const char* field);
std::optional<std::uint64_t> parse_number(
    const std::optional<std::string>& text, const char* option,
    const char* field);

/// JSON given as text, as "-" (standard input) or as "@FILE". `field` is the
/// library's name for it. Reads at most 8 times the state cap.
Result<Document> read_json(const std::string& argument, const char* field);

}  // namespace satchel::tools
