#pragma once
// The words that the tests of the program are written in.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "satchel/json.h"
#include "tests/support/process.h"

namespace satchel::test {

using Words = std::vector<std::string>;

/// Runs the real program on a store of its own in a fresh folder, with an
/// environment that holds nothing of the machine's.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;

  /// A path in the test's folder.
  std::string path(const std::string& name) const;
  std::string store() const { return path("store"); }

  Finished satchel(const Words& words,
                   std::optional<std::string> input = std::nullopt);
  /// The same with --json; the object on stdout, and the exit code checked.
  Json object(const Words& words, int exit_code = 0,
              std::optional<std::string> input = std::nullopt);
  /// The "error" of a failure.
  Json error(const Words& words, int exit_code,
             std::optional<std::string> input = std::nullopt);
  /// A new handle.
  std::string mint(const std::string& state = R"({"a":1})",
                   const Words& more = {});

  void write_file(const std::string& name, const std::string& text);
  static std::string read_file(const std::string& file);
  /// Every file in the store: name and bytes.
  std::map<std::string, std::string> files() const;
  /// Names in the test's folder.
  std::vector<std::string> entries() const;

  std::string root_;
  /// Of every run; SATCHEL_STORE is the store.
  std::map<std::string, std::optional<std::string>> env_;
  std::optional<unsigned> umask_;
  std::string stdout_path_;
};

/// $SATCHEL_TEST_DATA, else ../shared/data beside the project; empty when it
/// is not there.
std::string test_data();

}  // namespace satchel::test
