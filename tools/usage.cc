#include "tools/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "tools/arguments.h"
#include "tools/nearest.h"

namespace satchel::tools {
namespace {

constexpr const char* kFooter =
    R"(STATE and OPS are JSON, or - (standard input), or @FILE.
T is a number with a unit: 500ms 90s 15m 12h 1.5h 7d. Without --ttl a handle
never expires.

Environment (an empty variable counts as unset):
  SATCHEL_STORE            as --store
  SATCHEL_USER             as --user; else "local"
  SATCHEL_WRITER           as --writer; else the host's name
  SATCHEL_DURABILITY       as --durability; else sync
  SATCHEL_MAX_STATE_BYTES  cap of a state; else 1048576

Exit codes: 0 done, 1 not found or expired, 2 wrong input or usage,
3 conflict, 4 store damaged, 5 disk or program failure, 7 store in use,
8 done in part.

Example:
  satchel mint research '{"topic":"tides","sources":[]}' --ttl 7d
  satchel list
  satchel demo              the whole idea in a minute)";

void add_globals(CLI::App& app, Globals& globals) {
  add_value(&app, "--store", globals.store,
            "Folder of the store; else ~/.local/share/satchel",
            "PATH|rocksdb:///PATH");
  add_value(&app, "--user", globals.user, "Owner of the handles", "U");
  add_value(&app, "--writer", globals.writer, "Who writes; a label for people",
            "W");
  add_value(&app, "--durability", globals.durability,
            "What a write has survived: sync, interval or os", "D");
  add_switch(&app, "--json", globals.json,
             "Print one JSON object, failures too");
  add_switch(&app, "--version", globals.version,
             "Print the versions, as the command version does");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string help_hint(const CLI::App* command) {
  const auto words = joined(words_of(command));
  return " See satchel " + words + (words.empty() ? "" : " ") + "--help";
}

/// `command` and what it is nested in, out to the program; none is the program.
std::vector<const CLI::App*> with_parents(const CLI::App& app,
                                          const CLI::App* command) {
  std::vector<const CLI::App*> all;
  for (; command && command != &app; command = command->get_parent()) {
    all.push_back(command);
  }
  all.push_back(&app);
  return all;
}

enum class Takes { nothing, value, unknown };

/// What the option with the long name `name` takes after `command` (none:
/// before any command).
Takes takes(const CLI::App& app, const CLI::App* command,
            const std::string& name) {
  for (const CLI::App* a : with_parents(app, command)) {
    for (const CLI::Option* option : a->get_options()) {
      if (option->get_positional() || !option->check_lname(name)) continue;
      return option->get_items_expected_max() > 0 ? Takes::value
                                                  : Takes::nothing;
    }
  }
  return Takes::unknown;
}

const CLI::App* command_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

/// Mends what CLI11 reads in its own way: "--name=" (it would take the next
/// argument as the value), "--flag=x", "++".
std::vector<std::string> normalized(const CLI::App& app,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  const CLI::App* command = nullptr;
  bool is_value = false;
  bool options_ended = false;
  for (const std::string& argument : arguments) {
    const auto equals = argument.find('=');
    const bool option = !is_value && !options_ended && argument.size() > 2 &&
                        argument.starts_with("--");
    const Takes taken =
        option ? takes(app, command, argument.substr(2, equals - 2))
               : Takes::unknown;
    if (!is_value) {
      const auto* named = command_named(command ? *command : app, argument);
      if (named) command = named;
    }
    if (!is_value && argument == "++") {
      throw wrong_usage("'++' means nothing here." + help_hint(nullptr));
    }
    if (taken == Takes::nothing && equals != std::string::npos) {
      throw wrong_usage(argument.substr(0, equals) + " takes no value.");
    }
    if (taken == Takes::value && equals == argument.size() - 1) {
      out.push_back(argument.substr(0, equals));
      out.emplace_back();
    } else {
      out.push_back(argument);
    }
    options_ended = options_ended || (!is_value && argument == "--");
    is_value = taken == Takes::value && equals == std::string::npos;
  }
  if (is_value) {
    throw wrong_usage(arguments.back() + " needs a value after it.");
  }
  return out;
}

/// ". Did you mean 'x'?" for the nearest of `known`, if it is near.
std::string suggestion(const std::string& given,
                       const std::vector<std::string>& known) {
  const std::string best = nearest(given, known);
  return best.empty() ? "." : ". Did you mean '" + best + "'?";
}

std::vector<std::string> option_names(const CLI::App& app,
                                      const CLI::App* command) {
  std::vector<std::string> names;
  for (const CLI::App* a : with_parents(app, command)) {
    for (const CLI::Option* option : a->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
  }
  return names;
}

/// The innermost command that was called.
CLI::App* chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  if (commands.empty()) return nullptr;
  CLI::App* nested = chosen(*commands.front());
  return nested ? nested : commands.front();
}

/// Refuses the first argument that belongs nowhere.
void refuse_leftovers(const CLI::App& app) {
  CLI::App* command = chosen(app);
  for (const std::string& argument : app.remaining(true)) {
    if (argument == "--") continue;
    const bool option = argument.size() > 1 && argument.front() == '-';
    if (option) {
      const std::string name = argument.substr(0, argument.find('='));
      throw wrong_usage("unknown option " + shown(name) +
                        suggestion(name, option_names(app, command)) +
                        help_hint(command));
    }
    const auto names = command_names(command ? *command : app);
    if (names.empty()) {
      throw wrong_usage(joined(words_of(command)) + ": " + shown(argument) +
                        " is one argument too many." + help_hint(command));
    }
    throw wrong_usage("unknown command " + shown(argument) +
                      suggestion(argument, names) + help_hint(command));
  }
}

void refuse_repeats(const CLI::App& app) {
  for (const CLI::App* a : with_parents(app, chosen(app))) {
    for (const CLI::Option* option : a->get_options()) {
      const bool list =
          option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
      if (!option->get_positional() && !list && option->count() > 1) {
        throw wrong_usage(option->get_name() + " is given twice; give it once");
      }
    }
  }
}

void refuse_missing(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() && option->get_required() &&
        option->count() == 0) {
      throw wrong_usage(joined(words_of(&command)) + " needs " +
                        option->get_name() + '.' + help_hint(&command));
    }
  }
  const auto names = command_names(command);
  if (!names.empty()) {
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
    throw wrong_usage(joined(words_of(&command)) + " needs a command: " + list +
                      '.' + help_hint(&command));
  }
}

}  // namespace

std::unique_ptr<CLI::App> make_parser(Run& run) {
  auto app = std::make_unique<CLI::App>(
      "satchel keeps the working state of agents and servers: JSON objects "
      "under\nhandles that belong to a user, with versions and an expiry.",
      "satchel");
  app->footer(kFooter);
  app->fallthrough();
  app->require_subcommand(0, 1);
  add_globals(*app, run.globals);
  for (const auto add :
       {add_mint, add_get, add_save, add_patch, add_touch, add_list, add_revoke,
        add_sweep, add_history, add_changes, add_revert, add_kv, add_serve,
        add_demo, add_version, add_help}) {
    add(*app, run);
  }
  return app;
}

CLI::App* parse(CLI::App& app, std::vector<std::string> arguments) {
  arguments = normalized(app, arguments);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& error) {
    refuse_leftovers(app);
    refuse_repeats(app);
    if (chosen(app)) refuse_missing(*chosen(app));
    throw wrong_usage(std::string(error.what()) + '.' + help_hint(chosen(app)));
  }
  refuse_repeats(app);
  return chosen(app);
}

std::vector<std::string> words_of(const CLI::App* command) {
  std::vector<std::string> words;
  for (; command && command->get_parent(); command = command->get_parent()) {
    words.insert(words.begin(), command->get_name());
  }
  return words;
}

std::string help_text(CLI::App& app, const std::vector<std::string>& command) {
  const CLI::App* named = &app;
  // CLI11 prefixes the help of a command with its parents' names only when
  // told.
  std::string parents;
  for (const auto& word : command) {
    parents += (parents.empty() ? "" : " ") + named->get_name();
    const auto* next = command_named(*named, word);
    if (!next) {
      throw wrong_usage("unknown command " + shown(word) +
                        suggestion(word, command_names(*named)) +
                        help_hint(named));
    }
    named = next;
  }
  return named->help(parents);
}

void add_help(CLI::App& app, Run& run) {
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      add_command(app, "help", "Explain a command", "satchel help mint");
  command->add_option("COMMAND", *words, "Which; else the program")
      ->type_name("");
  run.actions[command] = [&app, words] {
    return Outcome{help_text(app, *words), {}, 0};
  };
}

bool asks_for_json(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return false;
    if (argument == "--json") return true;
  }
  return false;
}

}  // namespace satchel::tools
