// Documents written by other people, through the program.

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/support/program.h"

namespace satchel::test {
namespace {

namespace fs = std::filesystem;

class JsonSuiteTest : public ProgramTest {
 protected:
  static std::vector<fs::path> documents(const std::string& folder) {
    std::vector<fs::path> out;
    const std::string data = test_data();
    if (data.empty()) return out;
    for (const auto& entry :
         fs::directory_iterator(data + "/json-test-suite/" + folder)) {
      out.push_back(entry.path());
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  /// What minting {"v":DOCUMENT} says; what is accepted must read back equal.
  bool accepted(const std::string& document) {
    const Finished made =
        satchel({"mint", "note", "-", "--json", "--return-state"},
                "{\"v\":" + document + "}");
    Json object = Json::parse(made.out, nullptr, false);
    EXPECT_TRUE(object.is_object()) << made.out;
    if (!object.is_object()) return false;
    if (made.exit_code != 0) {
      EXPECT_EQ(made.exit_code, 2) << made.out;
      EXPECT_EQ(object["error"]["field"], "state") << made.out;
      return false;
    }
    Json again = this->object({"get", object["handle"]});
    EXPECT_EQ(again["state"].dump(), object["state"].dump());
    return true;
  }
};

TEST_F(JsonSuiteTest, ParsingDocuments) {
  const auto all = documents("test_parsing");
  if (all.empty()) GTEST_SKIP() << "test data is not there";
  std::size_t yes = 0, no = 0;
  for (const auto& file : all) {
    const std::string name = file.filename();
    SCOPED_TRACE(name);
    const bool ok = accepted(read_file(file));
    const bool duplicate = name.find("duplicated_key") != std::string::npos;
    if (name[0] == 'y') {
      EXPECT_EQ(ok, !duplicate);
    }
    if (name[0] == 'n') {
      EXPECT_FALSE(ok);
    }
    yes += ok;
    no += !ok;
  }
  EXPECT_GT(yes, 80u);
  EXPECT_GT(no, 180u);
}

TEST_F(JsonSuiteTest, TransformDocuments) {
  const auto all = documents("test_transform");
  if (all.empty()) GTEST_SKIP() << "test data is not there";
  std::size_t yes = 0;
  for (const auto& file : all) {
    SCOPED_TRACE(file.filename());
    yes += accepted(read_file(file));
  }
  EXPECT_GT(yes, 5u);
}

TEST_F(JsonSuiteTest, BigDocumentsFitARaisedCap) {
  const std::string data = test_data();
  if (data.empty()) GTEST_SKIP() << "test data is not there";
  for (const char* name : {"canada.json", "citm_catalog.json"}) {
    const std::string file = "@" + data + "/" + name;
    env_["SATCHEL_MAX_STATE_BYTES"] = "400000";
    EXPECT_EQ(error({"mint", "note", file}, 2)["code"], "state_too_large");
    env_["SATCHEL_MAX_STATE_BYTES"] = "8000000";
    const std::string h = object({"mint", "note", file})["handle"];
    EXPECT_EQ(object({"get", h})["state"],
              Json::parse(read_file(file.substr(1))));
  }
}

TEST_F(JsonSuiteTest, NumbersKeepTheirDigits) {
  const std::string text =
      R"({"id":725653563933458432,"n":9007199254740993,"m":-9007199254740993,)"
      R"("u":18446744073709551615,"z":-0.0,"o":1.0,"s":5e-324})";
  const std::string h = mint(text);
  object({"patch", h, R"({"op":"set_key","path":"","key":"k","value":1})"});
  const Finished got = satchel({"get", h, "--json"});
  EXPECT_NE(got.out.find(text.substr(0, text.size() - 1)), std::string::npos)
      << got.out;
  EXPECT_EQ(error({"mint", "note", R"({"x":1e400})"}, 2)["path"], "/x");
  EXPECT_EQ(error({"mint", "note", R"({"x":NaN})"}, 2)["field"], "state");
}

TEST_F(JsonSuiteTest, DeepNestingIsRefusedWithoutACrash) {
  const std::string deep(100'000, '[');
  EXPECT_EQ(error({"mint", "note", "-"}, 2, deep)["field"], "state");
  std::string balanced;
  for (int i = 0; i < 50'000; ++i) balanced += "{\"a\":";
  balanced += "1" + std::string(50'000, '}');
  EXPECT_EQ(error({"mint", "note", "-"}, 2, balanced)["field"], "state");
}

}  // namespace
}  // namespace satchel::test
