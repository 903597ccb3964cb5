#pragma once
// Runs this very program again, as another process.

#include <string>
#include <utility>
#include <vector>

namespace satchel::tools {

struct Finished {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// A process that runs this program's file with other arguments.
class Child {
 public:
  /// Starts it; `env` is added to this process's environment, an empty value
  /// takes a variable away. Throws internal_error when it cannot start.
  Child(const std::vector<std::string>& arguments,
        const std::vector<std::pair<std::string, std::string>>& env);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Waits for its end; once. Meant for outputs that fit a pipe.
  Finished finish();

 private:
  int pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

}  // namespace satchel::tools
