// Names of users and writers that other programs mix up or choke on.

#include <fstream>

#include "tests/support/program.h"

namespace satchel::test {
namespace {

class UsersTest : public ProgramTest {
 protected:
  static std::size_t characters_refused(const std::string& text) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      const bool c1 = c == 0xc2 && i + 1 < text.size() &&
                      static_cast<unsigned char>(text[i + 1]) < 0xa0;
      n += c < 0x20 || c == 0x7f || c1;
    }
    return n;
  }
  static Json naughty() {
    const std::string data = test_data();
    if (data.empty()) return {};
    std::ifstream in(data + "/naughty-strings.json");
    return Json::parse(in, nullptr, false);
  }
};

TEST_F(UsersTest, NoUserSeesAnother) {
  const Words users = {"a",     "ab",        "a%",          "a_",
                       "a*",    "A",         "a ",          "a:b",
                       "a/b",   "a%3Ab",     "tenant/acme", "tenant/acme-corp",
                       "index", "构建",      "发版",        "🎉",
                       "é",     "e\xcc\x81", "../../x",     "'; DROP TABLE x"};
  std::map<std::string, std::string> handles;
  for (const auto& user : users) {
    handles[user] = object({"--user", user, "mint", "note", "{}"})["handle"];
  }
  for (const auto& user : users) {
    SCOPED_TRACE(user);
    Json list = object({"--user", user, "list"});
    ASSERT_EQ(list["handles"].size(), 1u);
    EXPECT_EQ(list["handles"][0]["handle"], handles[user]);
  }
  EXPECT_EQ(error({"--user", "a", "get", handles["ab"]}, 1)["code"],
            "handle_not_found");
  EXPECT_EQ(object({"--user", "a", "sweep"})["removed"], 0);
  object({"--user", "a", "revoke", handles["a"]});
  EXPECT_EQ(object({"--user", "ab", "get", handles["ab"]})["version"], 1);
}

TEST_F(UsersTest, LongNamesAreNotFolded) {
  const std::string x = std::string(1023, 'u') + "x";
  const std::string y = std::string(1023, 'u') + "y";
  object({"--user", x, "mint", "note", "{}"});
  EXPECT_EQ(object({"--user", y, "list"})["handles"].size(), 0u);
  EXPECT_EQ(error({"--user", x + "z", "list"}, 2)["field"], "user");
}

TEST_F(UsersTest, NamesThatAreNoTextAreRefused) {
  for (const std::string bad : {"\n", "a\tb", "\x7f", "\xc2\x85", "\xff\xfe",
                                "\xed\xa0\x80", "a\xc0"}) {
    EXPECT_EQ(error({"--user", bad, "list"}, 2)["field"], "user");
    EXPECT_EQ(error({"--user", bad, "mint", "note", "{}"}, 2)["field"], "user");
  }
  EXPECT_EQ(error({"--writer", "\xff", "mint", "note", "{}"}, 2)["field"],
            "writer");
  EXPECT_EQ(error({"--writer", std::string(257, 'w'), "mint", "note", "{}"},
                  2)["field"],
            "writer");
}

TEST_F(UsersTest, NaughtyStringsAsUserWriterAndValue) {
  const Json strings = naughty();
  if (!strings.is_array()) GTEST_SKIP() << "test data is not there";
  std::size_t stored = 0, refused = 0;
  for (const Json& item : strings) {
    const std::string text = item.get<std::string>();
    if (text.empty()) continue;
    SCOPED_TRACE(item.dump());
    const bool bad_user = characters_refused(text) > 0 || text.size() > 1024;
    const std::string user = bad_user ? "local" : text;
    const std::string writer = text.size() > 256 ? "w" : text;
    if (bad_user) {
      EXPECT_EQ(error({"--user", text, "list"}, 2)["field"], "user");
      ++refused;
    }
    Json state = {{"v", text}, {text, 1}};
    Json made = object({"mint", "note", "-", "--user=" + user, "--writer",
                        writer, "--return-state"},
                       0, state.dump());
    EXPECT_EQ(made["last_writer"], writer);
    EXPECT_EQ(made["state"], state);
    ++stored;
  }
  EXPECT_GT(stored, 500u);
  RecordProperty("refused", static_cast<int>(refused));
}

}  // namespace
}  // namespace satchel::test
