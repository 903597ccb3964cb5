// Every source file is formatted as .clang-format says.

#include <gtest/gtest.h>

#include <string>

#include "files.h"

namespace satchel::repo {
namespace {

CommandResult check_format(const std::filesystem::path& root) {
  std::string command = "cd " + quoted(root.string()) + " && " +
                        quoted(CLANG_FORMAT) +
                        " --style=file --dry-run -Werror";
  for (const auto& file : source_files(root)) command += " " + quoted(file);
  return run(command);
}

TEST(Format, AllSourceFilesAreFormatted) {
  ASSERT_FALSE(source_files(project_root()).empty());
  const auto result = check_format(project_root());
  EXPECT_EQ(result.exit_code, 0) << "Run: clang-format -i FILE\n"
                                 << result.output;
}

TEST(Format, UnformattedFileIsNoticed) {
  const TempFolder folder;
  write_file(folder.path() / ".clang-format",
             read_file(project_root() / ".clang-format"));
  write_file(folder.path() / "api/ugly.cc", "int  f( ){return 1 ;}\n");
  const auto result = check_format(folder.path());
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.output.find("api/ugly.cc"), std::string::npos)
      << result.output;
}

}  // namespace
}  // namespace satchel::repo
