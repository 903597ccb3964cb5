#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/escape.h"
#include "tools/open.h"
#include "tools/output.h"

namespace satchel::tools {
namespace {

constexpr int kDoneInPart = 8;

struct Arguments {
  std::vector<std::string> handles;
  std::optional<std::string> request_id;
};

RevokeOptions options_of(const Run& run, const Arguments& a) {
  if (a.request_id && a.handles.size() > 1) {
    throw wrong_usage("--request-id goes with one handle only");
  }
  RevokeOptions options;
  options.user = user_name(run.globals.user);
  writer_name(run.globals.writer);
  options.request_id = MutationArguments{a.request_id}.id();
  return options;
}

Outcome revoke(Run& run, const Arguments& a) {
  const RevokeOptions options = options_of(run, a);
  const auto store = open_to_write(run);
  Outcome outcome;
  std::size_t failed = 0;
  for (const std::string& handle : a.handles) {
    const Result<void> result = store->revoke(handle, options);
    if (result.ok()) {
      outcome.out += run.globals.json ? revoked_object(handle) + '\n'
                                      : "revoked " + escaped(handle) + '\n';
      continue;
    }
    if (failed++ == 0) outcome.exit_code = exit_code(result.error().code);
    if (run.globals.json) {
      outcome.out += result.error().to_payload() + '\n';
    } else {
      outcome.err += failure_line(result.error(), run.place);
    }
  }
  store->close().value();
  if (failed > 0 && failed < a.handles.size()) outcome.exit_code = kDoneInPart;
  return outcome;
}

}  // namespace

void add_revoke(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* command = add_command(app, "revoke", "End handles for good",
                                  "satchel revoke research_k2v7m4qz");
  command->add_option("HANDLE", a->handles, "One or more handles")
      ->required()
      ->type_name("");
  add_value(command, "--request-id", a->request_id,
            "A retry with the same ID is not applied twice", "ID");
  run.actions[command] = [a, &run] { return revoke(run, *a); };
}

}  // namespace satchel::tools
