#pragma once
// The `satchel` program: one command a run.

namespace satchel::tools {

/// Parses, runs one command, prints, and returns the exit code
/// (tools/README.md lists them).
int run_program(int argc, char** argv);

}  // namespace satchel::tools
