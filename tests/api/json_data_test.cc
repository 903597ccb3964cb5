// The JSON rules on data written by other people (skipped where it is absent).

#include <algorithm>
#include <cmath>
#include <sstream>

#include "api/json_text.h"
#include "api/path.h"
#include "json_support.h"

namespace satchel {
namespace {

using testing::canonical_of;
using testing::read_file;

class JsonData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data_ / "README.md"))
      GTEST_SKIP() << "no test data in ../shared/data (or SATCHEL_TEST_DATA)";
  }

  std::vector<std::filesystem::path> files(const char* folder) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry :
         std::filesystem::directory_iterator(data_ / folder))
      found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }

  /// The literals of a file of numbers/, one a line.
  std::vector<std::string> literals(const char* file) const {
    std::vector<std::string> found;
    std::istringstream in(read_file(data_ / "numbers" / file));
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!line.empty() && line.front() != '#') found.push_back(line);
    }
    EXPECT_GE(found.size(), 3u) << file;
    return found;
  }

  const std::filesystem::path data_ = testing::shared_data();
};

/// What is accepted reads back, and its form is final.
void expect_stable(const Document& document, const std::string& what) {
  EXPECT_EQ(canonical_of(document.text()), document.text()) << what;
  EXPECT_EQ(Document::from_json(document.json()).value(), document) << what;
  EXPECT_EQ(canonical_size(document.json()), document.size_bytes()) << what;
  EXPECT_EQ(canonical_of(pretty(document)), document.text()) << what;
  EXPECT_TRUE(Json::accept(document.text())) << what;
}

TEST_F(JsonData, ParsingSuite) {
  int accepted = 0, refused = 0;
  for (const auto& file : files("json-test-suite/test_parsing")) {
    const std::string name = file.filename().string();
    const std::string text = read_file(file);
    const bool twice = name.starts_with("y_object_duplicated_key");
    for (const std::string& form : {text, "{\"v\":" + text + "}"}) {
      const auto document = Document::parse(form);
      document ? ++accepted : ++refused;
      if (document) {
        expect_stable(*document, name);
      } else {
        EXPECT_TRUE(Json::accept(document.error().to_payload())) << name;
      }
      if (name.starts_with("y_")) {
        EXPECT_EQ(document.ok(), !twice) << name;
      }
      if (name.starts_with("n_")) {
        EXPECT_FALSE(document.ok()) << name;
      }
    }
  }
  EXPECT_EQ(accepted + refused, 2 * 318);
  EXPECT_GE(accepted, 2 * 93);
}

TEST_F(JsonData, TransformSuite) {
  int seen = 0;
  for (const auto& file : files("json-test-suite/test_transform")) {
    const auto document = Document::parse(read_file(file));
    if (document) expect_stable(*document, file.filename().string());
    ++seen;
  }
  EXPECT_EQ(seen, 22);
  const auto form = [&](const char* name) {
    return canonical_of(
        read_file(data_ / "json-test-suite/test_transform" / name));
  };
  EXPECT_EQ(form("number_1.0.json"), "[1.0]");
  EXPECT_EQ(form("number_1e-999.json"), "[0.0]");
  EXPECT_EQ(form("number_1e6.json"), "[1000000.0]");
  EXPECT_EQ(form("number_-9223372036854775808.json"), "[-9223372036854775808]");
  EXPECT_EQ(form("number_-9223372036854775809.json"), "invalid_input");
  EXPECT_EQ(form("object_same_key_same_value.json"), "invalid_input");
  EXPECT_EQ(form("string_1_escaped_invalid_codepoint.json"), "invalid_input");
  EXPECT_EQ(form("string_with_escaped_NULL.json"), "[\"A\\u0000B\"]");
}

TEST_F(JsonData, Integers) {
  for (const std::string& literal : literals("int.txt"))
    EXPECT_EQ(canonical_of(literal), literal == "-0" ? "0" : literal);
  for (const char* file : {"int_big_.txt", "int_inf_.txt", "int_fail_.txt"})
    for (const std::string& literal : literals(file))
      EXPECT_EQ(canonical_of(literal), "invalid_input") << literal;
}

double read_double(const std::string& literal) {
  return std::strtod(literal.c_str(), nullptr);
}

TEST_F(JsonData, Reals) {
  std::size_t seen = 0;
  for (const char* file :
       {"real_1.txt", "real_2.txt", "real_3.txt", "real_4.txt", "real_5.txt",
        "real_6.txt", "real_7.txt"}) {
    for (const std::string& literal : literals(file)) {
      const std::string text = canonical_of(literal);
      const double wanted = read_double(literal);
      // One literal of the files lies beyond the largest double.
      ASSERT_EQ(text == "invalid_input", std::isinf(wanted)) << literal;
      if (std::isinf(wanted)) continue;
      const double got = read_double(text);
      EXPECT_EQ(std::memcmp(&wanted, &got, sizeof got), 0) << literal;
      EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text;
      EXPECT_EQ(canonical_of(text), text);
      ++seen;
    }
  }
  EXPECT_GT(seen, 20'000u);
  for (const char* file : {"real_inf_.txt", "real_fail_.txt"})
    for (const std::string& literal : literals(file))
      EXPECT_EQ(canonical_of(literal), "invalid_input") << literal;
}

TEST_F(JsonData, NotANumberLiterals) {
  for (const char* file : {"literal.txt", "literal_fail_.txt"})
    for (const std::string& literal : literals(file))
      EXPECT_EQ(canonical_of(literal), "invalid_input") << literal;
}

TEST_F(JsonData, NaughtyStringsAreValuesAndKeys) {
  const Json strings = Json::parse(read_file(data_ / "naughty-strings.json"));
  ASSERT_GE(strings.size(), 500u);
  for (const Json& item : strings) {
    const std::string text = item;
    Json tree = Json::object();
    tree[text] = text;
    const auto document = Document::from_json(tree);
    ASSERT_TRUE(document.ok()) << text;
    expect_stable(*document, text);
    EXPECT_EQ(document->json().items().begin().key(), text);
    EXPECT_EQ(document->json()[text], text);
    std::string pointer;
    append_segment(text, &pointer);
    EXPECT_EQ(subtree(*document, pointer).value().json(), text);
  }
}

TEST_F(JsonData, BigDocuments) {
  for (const char* name : {"canada.json", "citm_catalog.json"}) {
    const std::string text = read_file(data_ / name);
    ASSERT_GT(text.size(), 1'500'000u);
    expect_stable(Document::parse(text).value(), name);
  }
}

}  // namespace
}  // namespace satchel
