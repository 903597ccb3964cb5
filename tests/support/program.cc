#include "tests/support/program.h"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace satchel::test {

namespace fs = std::filesystem;

ProgramTest::ProgramTest() {
  std::string pattern = fs::temp_directory_path() / "satchel-test-XXXXXX";
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp failed");
  root_ = pattern;
  fs::create_directory(path("home"));
  env_ = {{"SATCHEL_STORE", store()},
          {"SATCHEL_USER", std::nullopt},
          {"SATCHEL_WRITER", "test"},
          {"SATCHEL_DURABILITY", "os"},
          {"SATCHEL_MAX_STATE_BYTES", std::nullopt},
          {"XDG_DATA_HOME", std::nullopt},
          {"COLUMNS", std::nullopt},
          {"HOME", path("home")}};
}

ProgramTest::~ProgramTest() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string ProgramTest::path(const std::string& name) const {
  return root_ + '/' + name;
}

Finished ProgramTest::satchel(const Words& words,
                              std::optional<std::string> input) {
  Command command;
  command.argv = {satchel_binary()};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.input = std::move(input);
  command.env = env_;
  command.directory = root_;
  command.umask = umask_;
  command.stdout_path = stdout_path_;
  return run(command);
}

Json ProgramTest::object(const Words& words, int exit_code,
                         std::optional<std::string> input) {
  Words with_json = {"--json"};
  with_json.insert(with_json.end(), words.begin(), words.end());
  const Finished done = satchel(with_json, std::move(input));
  EXPECT_EQ(done.exit_code, exit_code) << done.out << done.err;
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 1) << done.out;
  Json json = Json::parse(done.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << done.out << done.err;
  if (!json.is_object()) return Json::object();
  EXPECT_EQ(json.value("ok", exit_code != 0), exit_code == 0) << done.out;
  return json;
}

Json ProgramTest::error(const Words& words, int exit_code,
                        std::optional<std::string> input) {
  return object(words, exit_code, std::move(input))
      .value("error", Json::object());
}

std::string ProgramTest::mint(const std::string& state, const Words& more) {
  Words words = {"mint", "note", state};
  words.insert(words.end(), more.begin(), more.end());
  return object(words).value("handle", "");
}

void ProgramTest::write_file(const std::string& name, const std::string& text) {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string ProgramTest::read_file(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::map<std::string, std::string> ProgramTest::files() const {
  std::map<std::string, std::string> out;
  if (!fs::exists(store())) return out;
  for (const auto& entry : fs::recursive_directory_iterator(store())) {
    out[entry.path().filename()] =
        entry.is_regular_file() ? read_file(entry.path()) : "";
  }
  return out;
}

std::vector<std::string> ProgramTest::entries() const {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(root_)) {
    out.push_back(entry.path().filename());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string test_data() {
  if (const char* given = std::getenv("SATCHEL_TEST_DATA")) return given;
  const char* source = std::getenv("SATCHEL_SOURCE_DIR");
  const fs::path data =
      fs::path(source ? source : ".") / ".." / "shared" / "data";
  return fs::is_directory(data) ? data.string() : std::string();
}

}  // namespace satchel::test
