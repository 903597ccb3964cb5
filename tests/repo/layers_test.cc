// The layer rule holds in this repository, and its checker notices each way to
// break it.

#include "layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"

namespace satchel::repo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Rules that a tree breaks which holds `text` in `file`, beside a few files
// that break none.
std::vector<std::string> broken_by(const std::string& file,
                                   const std::string& text) {
  const TempFolder folder;
  const auto& root = folder.path();
  write_file(root / "storage/engine.h", "namespace rocksdb { class DB; }\n");
  write_file(root / "storage/log.h", "// hides rocksdb\n");
  write_file(root / "storage/log.cc",
             "#include \"log.h\"\n#include <rocksdb/db.h>\n");
  write_file(root / "api/satchel/store.h", "#include <nlohmann/json.hpp>\n");
  write_file(root / "api/store.cc",
             "#include \"satchel/store.h\"\n#include \"storage/log.h\"\n");
  write_file(root / "tools/main.cc", "#include \"satchel/store.h\"\n");
  EXPECT_THAT(broken_rules(root), IsEmpty());
  write_file(root / file, text);
  return broken_rules(root);
}

TEST(Layers, ThisRepositoryKeepsThem) {
  ASSERT_FALSE(source_files(project_root()).empty());
  EXPECT_THAT(broken_rules(project_root()), IsEmpty());
}

TEST(Layers, StorageMayNotLookUp) {
  EXPECT_THAT(
      broken_by("storage/a.cc", "#include \"satchel/store.h\"\n"),
      ElementsAre("storage/a.cc: must not include api/satchel/store.h"));
  EXPECT_THAT(broken_by("storage/a.cc", " # include <api/gone.h>\n"),
              ElementsAre("storage/a.cc: must not include api/gone.h"));
  EXPECT_THAT(
      broken_by("storage/a.cc", "#include \"../api/satchel/store.h\"\n"),
      ElementsAre("storage/a.cc: must not include api/satchel/store.h"));
}

TEST(Layers, ApiMayNotIncludeTools) {
  EXPECT_THAT(broken_by("api/a.cc", "#include \"tools/output.h\"\n"),
              ElementsAre("api/a.cc: must not include tools/output.h"));
}

TEST(Layers, ToolsAndBenchGoThroughApi) {
  EXPECT_THAT(broken_by("tools/a.cc", "#include \"storage/log.h\"\n"),
              ElementsAre("tools/a.cc: must not include storage/log.h"));
  EXPECT_THAT(broken_by("bench/a.cc", "#include \"storage/log.h\"\n"),
              ElementsAre("bench/a.cc: must not include storage/log.h"));
  EXPECT_THAT(broken_by("bench/raw_a.cc", "#include \"storage/log.h\"\n"),
              IsEmpty());
}

TEST(Layers, RocksDbIsIncludedInFewPlaces) {
  const std::string text = "#include <rocksdb/env.h>\n";
  for (const char* file : {"api/a.cc", "tools/a.cc", "bench/a.cc",
                           "tests/api/a.cc", "tests/support/a.h"}) {
    EXPECT_THAT(broken_by(file, text),
                ElementsAre(file + std::string(": must not include "
                                               "rocksdb/env.h")));
  }
  for (const char* file :
       {"storage/a.cc", "bench/raw_a.cc", "tests/storage/a.cc",
        "tests/support/fault_file_system.h"}) {
    EXPECT_THAT(broken_by(file, text), IsEmpty()) << file;
  }
}

TEST(Layers, HeadersThatApiSeesNameNoRocksDb) {
  const std::string named =
      "storage/engine.h: names RocksDB and is included by api/";
  EXPECT_THAT(broken_by("api/a.cc", "#include \"storage/engine.h\"\n"),
              ElementsAre(named));
  EXPECT_THAT(broken_by("storage/log.h", "#include \"engine.h\"\n"),
              ElementsAre(named));
  EXPECT_THAT(
      broken_by("storage/log.h", "#include <rocksdb/slice.h>\n"),
      ElementsAre("storage/log.h: names RocksDB and is included by api/"));
}

TEST(Layers, WallClockIsAskedInOnePlace) {
  const std::string text = "auto t = std::chrono::system_clock::now();\n";
  EXPECT_THAT(broken_by("storage/a.cc", text),
              ElementsAre("storage/a.cc: asks the system's clock"));
  EXPECT_THAT(broken_by("tests/api/a.cc", "using system_clock::now;\n"),
              ElementsAre("tests/api/a.cc: asks the system's clock"));
  EXPECT_THAT(broken_by("api/clock.cc", text), IsEmpty());
}

TEST(Layers, TestsDoNotSleep) {
  EXPECT_THAT(broken_by("tests/api/a.cc", "std::this_thread::sleep_for(x);\n"),
              ElementsAre("tests/api/a.cc: sleeps"));
  EXPECT_THAT(broken_by("tests/api/a.cc", "sleep (1);\n"),
              ElementsAre("tests/api/a.cc: sleeps"));
  EXPECT_THAT(broken_by("tests/api/a.cc", "// sleep(1)\nf(\"sleep(1)\");\n"),
              IsEmpty());
}

TEST(Strip, RemovesCommentsAndLiterals) {
  EXPECT_EQ(strip("a // b\nc /* d\n */ e", false), "a     \nc     \n    e");
  EXPECT_EQ(strip("f(\"//x\\\"y\", '\"', 1'000) // z", false),
            "f(\"      \", ' ', 1'000)     ");
  EXPECT_EQ(strip("#include \"a//b\"", true), "#include \"a//b\"");
  EXPECT_EQ(strip("R\"-(a\")b)-\" c", false), "R\"        \" c");
}

}  // namespace
}  // namespace satchel::repo
