#include <memory>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/open.h"
#include "tools/output.h"

namespace satchel::tools {
namespace {

struct Arguments {
  std::string handle;
  std::string ops;
  MutationArguments mutation;
};

Outcome patch(Run& run, const Arguments& a) {
  PatchOptions options;
  options.user = user_name(run.globals.user);
  options.writer = writer_name(run.globals.writer);
  options.request_id = a.mutation.id();
  options.return_state = a.mutation.return_state;
  const JsonInput ops = read_json(a.ops, "ops").value();
  const auto store = open_to_write(run);
  const Snapshot patched = store->patch(a.handle, ops, options).value();
  store->close().value();
  if (run.globals.json) return {to_object(patched) + '\n', {}, 0};
  return {mutation_text("patched", patched), {}, 0};
}

}  // namespace

void add_patch(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app, "patch", "Change parts of a state; never conflicts",
      "satchel patch research_k2v7m4qz \\\n    "
      "'{\"op\":\"append\",\"path\":\"sources\",\"value\":\"a.pdf\"}'\n\n"
      "Ops: append(path,value) set_key(path,key,value) del_key(path,key)\n"
      "  merge(mapping,path) increment(path,key,by) add_to_set(path,value)\n"
      "  remove_value(path,value); \"create\":true makes missing parents");
  add_positional(command, "HANDLE", a->handle, "As mint or list printed it");
  add_positional(command, "OPS", a->ops,
                 "One op or an array (JSON), - for stdin, or @FILE");
  add_mutation_options(command, a->mutation);
  run.actions[command] = [a, &run] { return patch(run, *a); };
}

}  // namespace satchel::tools
