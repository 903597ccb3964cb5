#pragma once
// The source files of a tree, and running a command on them.

#include <filesystem>
#include <string>
#include <vector>

namespace satchel::repo {

/// The root of this project.
std::filesystem::path project_root();

/// All .h and .cc files under the source folders of `root`, as sorted paths
/// relative to it.
std::vector<std::string> source_files(const std::filesystem::path& root);

std::string read_file(const std::filesystem::path& path);

/// Creates the parent folders too.
void write_file(const std::filesystem::path& path, const std::string& text);

struct CommandResult {
  int exit_code = -1;
  /// stdout and stderr.
  std::string output;
};

CommandResult run(const std::string& shell_command);

/// `text` as one word of a shell command.
std::string quoted(const std::string& text);

/// A new empty folder, removed with its content by the destructor.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace satchel::repo
