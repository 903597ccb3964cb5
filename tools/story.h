#pragma once
// Tells a story in commands: runs each in a process of its own and prints what
// a person at a terminal would see.

#include <string>
#include <utility>
#include <vector>

#include "tools/child.h"

namespace satchel::tools {

class Story {
 public:
  /// Commands see `store` as $SATCHEL_STORE and "alice" as $SATCHEL_USER. What
  /// is told goes to the file descriptor `fd`, at most 80 columns wide.
  Story(std::string store, int fd);

  /// A paragraph, wrapped.
  void tell(const std::string& text);

  struct Command {
    /// Shown as the prompt, and the $SATCHEL_WRITER of the command.
    std::string device;
    std::vector<std::string> arguments;
  };

  /// Runs a command and prints it with its output. Throws internal_error when
  /// it does not end with `exit_code`.
  Finished run(const Command& command, int exit_code = 0);

  /// Runs two commands at the same time and prints both.
  std::pair<Finished, Finished> run_both(const Command& a, const Command& b);

  int commands() const { return commands_; }

 private:
  std::vector<std::pair<std::string, std::string>> environment(
      const Command& command) const;
  void show_command(const Command& command);
  void show_output(const Finished& done);

  std::string store_;
  int fd_;
  int commands_ = 0;
};

/// Throws internal_error saying that `what` was not as the story tells.
void require_told(bool is_so, const std::string& what);

}  // namespace satchel::tools
