#include "tools/program.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <clocale>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "tools/arguments.h"
#include "tools/output.h"
#include "tools/usage.h"

namespace satchel::tools {
namespace {

/// A caller may have closed one of the three standard descriptors. Without
/// this a file of the store would take its number and our output would land in
/// that file.
void reserve_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // Input that cannot be read, output that cannot be written.
    ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

Outcome perform(CLI::App& app, Run& run,
                const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {{}, help_text(app, {}), 2};
  CLI::App* command = nullptr;
  try {
    command = parse(app, arguments);
  } catch (const CLI::Success&) {
    const CLI::App* called = &app;
    while (!called->get_subcommands().empty()) {
      called = called->get_subcommands().front();
    }
    return {help_text(app, words_of(called)), {}, 0};
  }
  run.parsed = true;
  if (run.globals.version) command = app.get_subcommand("version");
  if (!command) throw wrong_usage("a command is missing; see satchel --help");
  return run.actions.at(command)();
}

Outcome failure(const Error& error, bool json, const std::string& place) {
  const int code = exit_code(error.code);
  if (json) return {error.to_payload() + '\n', {}, code};
  return {{}, failure_line(error, place), code};
}

/// On stderr; when nobody reads there, the exit code still tells.
void tell(const std::string& text) {
  try {
    write_all(STDERR_FILENO, text);
  } catch (const WriteFailure&) {
  }
}

/// The exit code for output that could not be written. A reader that went away
/// got what it wanted.
int unwritten(const WriteFailure& failure, int done) {
  if (failure.error == EPIPE) return done;
  tell(std::string("satchel: the command was carried out, but its result "
                   "cannot be written to standard output (") +
       std::strerror(failure.error) +
       "); give it a place that takes output; `satchel list` shows what is "
       "in the store\n");
  return exit_code(ErrorCode::backend_error);
}

int print(const Outcome& outcome) {
  try {
    write_all(STDOUT_FILENO, outcome.out);
  } catch (const WriteFailure& failure) {
    return unwritten(failure, outcome.exit_code);
  }
  tell(outcome.err);
  return outcome.exit_code;
}

}  // namespace

int run_program(int argc, char** argv) {
  reserve_standard_descriptors();
  ::signal(SIGPIPE, SIG_IGN);
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0),
                                           argv + argc);
  Run run;
  Outcome outcome;
  const auto failed = [&](const Error& error) {
    const bool json = run.parsed ? run.globals.json : asks_for_json(arguments);
    return failure(error, json, run.place);
  };
  try {
    const auto app = make_parser(run);
    outcome = perform(*app, run, arguments);
  } catch (const Error& error) {
    outcome = failed(error);
  } catch (const WriteFailure& failure) {
    return unwritten(failure, 0);
  } catch (const std::exception& error) {
    outcome = failed(Error(ErrorCode::internal_error,
                           std::string("the program failed: ") + error.what()));
  }
  return print(outcome);
}

}  // namespace satchel::tools
