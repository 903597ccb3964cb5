// Every public header compiles alone, without a warning, and needs nothing but
// the standard library and nlohmann/json.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "files.h"

namespace satchel::repo {
namespace {

namespace fs = std::filesystem;

// Compiles `header` as the only content of a source file, with the public
// headers in `include` as the only include path; `output` then lists all files
// that were read.
CommandResult compile_alone(const fs::path& include,
                            const std::string& header) {
  const TempFolder folder;
  const auto dependencies = (folder.path() / "header.d").string();
  auto result = run(
      quoted(CXX_COMPILER) +
      " -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror -I" +
      quoted(include.string()) + " -include " + quoted(header) + " -MD -MF " +
      quoted(dependencies) + " -x c++ /dev/null");
  if (result.exit_code == 0) result.output = read_file(dependencies);
  return result;
}

// The files in a compiler's dependency list that are neither ours, nor
// nlohmann's, nor of the compiler, the C library or the kernel's headers.
std::vector<std::string> foreign_files(const std::string& dependencies,
                                       const std::string& include) {
  static const std::regex known(
      "(.*/c\\+\\+/.*|.*/gcc/.*|/usr/include/nlohmann/.*"
      "|/usr/include/(bits|sys|asm|asm-generic|linux|gnu)/.*"
      "|/usr/include/[^/]*-linux-gnu[^/]*/.*|/usr/include/"
      "([a-z]*|stdc-predef|features-time64)\\.h"
      "|/dev/null|.*:|\\\\)");
  static const std::regex banned(".*/(xxhash|simdjson)\\.h");
  std::vector<std::string> foreign;
  std::istringstream in(dependencies);
  for (std::string file; in >> file;) {
    if (file.starts_with(include + "/")) continue;
    if (!std::regex_match(file, known) || std::regex_match(file, banned)) {
      foreign.push_back(file);
    }
  }
  return foreign;
}

std::vector<std::string> public_headers() {
  std::vector<std::string> headers;
  for (const auto& file : source_files(project_root())) {
    if (file.starts_with("api/satchel/") && file.ends_with(".h")) {
      headers.push_back(file.substr(std::string("api/").size()));
    }
  }
  return headers;
}

TEST(PublicHeaders, CompileAloneAndNeedNothingElse) {
  const auto headers = public_headers();
  ASSERT_FALSE(headers.empty());
  const auto include = project_root() / "api";
  for (const auto& header : headers) {
    SCOPED_TRACE(header);
    const auto result = compile_alone(include, header);
    ASSERT_EQ(result.exit_code, 0) << result.output;
    EXPECT_NE(result.output.find(header), std::string::npos);
    EXPECT_EQ(foreign_files(result.output, include.string()),
              std::vector<std::string>{});
  }
}

TEST(PublicHeaders, WrongOnesAreNoticed) {
  const TempFolder folder;
  const auto& include = folder.path();
  write_file(include / "satchel/needs_include.h",
             "#pragma once\ninline std::string f() { return {}; }\n");
  EXPECT_NE(compile_alone(include, "satchel/needs_include.h").exit_code, 0);

  write_file(include / "satchel/warns.h",
             "#pragma once\ninline int f(int unused) { return 1; }\n");
  EXPECT_NE(compile_alone(include, "satchel/warns.h").exit_code, 0);

  write_file(include / "satchel/engine.h",
             "#pragma once\n#include <rocksdb/slice.h>\n");
  const auto engine = compile_alone(include, "satchel/engine.h");
  ASSERT_EQ(engine.exit_code, 0) << engine.output;
  EXPECT_FALSE(foreign_files(engine.output, include.string()).empty());

  write_file(include / "satchel/hash.h", "#pragma once\n#include <xxhash.h>\n");
  const auto hash = compile_alone(include, "satchel/hash.h");
  ASSERT_EQ(hash.exit_code, 0) << hash.output;
  EXPECT_FALSE(foreign_files(hash.output, include.string()).empty());
}

}  // namespace
}  // namespace satchel::repo
