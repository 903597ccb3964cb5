// Every command on a store that is missing, foreign, newer, damaged or in use.

#include <unistd.h>

#include <algorithm>

#include "satchel/store.h"
#include "tests/support/program.h"

namespace satchel::test {
namespace {

namespace fs = std::filesystem;

class StoreStatesTest : public ProgramTest {
 protected:
  static constexpr const char* kHandle = "note_aaaaaaaa";

  static std::vector<Words> readers() {
    return {{"get", kHandle},
            {"list"},
            {"history", kHandle},
            {"changes", kHandle, "--since", "0"}};
  }
  static std::vector<Words> kv_readers() {
    return {{"kv", "--app", "a", "get", "k"},
            {"kv", "--app", "a", "has", "k"},
            {"kv", "--app", "a", "keys"},
            {"kv", "--app", "a", "mget", "k"},
            {"kv", "--app", "a", "usage"}};
  }
  static std::vector<Words> writers() {
    return {{"mint", "note", "{}"},
            {"save", kHandle, "{}", "--expect-version", "1"},
            {"patch", kHandle, "[]"},
            {"touch", kHandle, "--persist"},
            {"revoke", kHandle},
            {"sweep"},
            {"revert", kHandle, "--to", "1"},
            {"kv", "--app", "a", "set", "k", "1", "--ttl", "1h"},
            {"kv", "--app", "a", "incr", "k", "--ttl", "1h"},
            {"kv", "--app", "a", "delete", "k"}};
  }
  /// Every command fails so, says where, and changes not one byte.
  void all_refuse(const std::string& code, int exit_code) {
    const auto before = files();
    std::vector<Words> all = readers();
    for (const Words& w : kv_readers()) all.push_back(w);
    for (const Words& w : writers()) all.push_back(w);
    for (const Words& words : all) {
      SCOPED_TRACE(testing::PrintToString(words));
      const Finished json = satchel([&] {
        Words with = words;
        with.push_back("--json");
        return with;
      }());
      EXPECT_EQ(json.exit_code, exit_code) << json.err;
      Json object = Json::parse(json.out, nullptr, false);
      ASSERT_TRUE(object.is_object()) << json.out;
      EXPECT_EQ(object["error"]["code"], code) << json.out;
      EXPECT_EQ(json.out.find(root_), std::string::npos) << json.out;
      const Finished plain = satchel(words);
      EXPECT_EQ(plain.exit_code, exit_code);
      EXPECT_NE(plain.err.find(store()), std::string::npos) << plain.err;
    }
    expect_same(before);
  }
  void expect_same(const std::map<std::string, std::string>& before) {
    const auto now = files();
    EXPECT_EQ(now.size(), before.size());
    for (const auto& [name, bytes] : before) {
      EXPECT_TRUE(now.count(name) && now.at(name) == bytes) << name;
    }
  }
  std::string file_with(const std::string& extension) const {
    for (const auto& entry : fs::directory_iterator(store())) {
      if (entry.path().extension() == extension) return entry.path();
    }
    return {};
  }
  void flip(const std::string& file, std::size_t at) {
    std::string bytes = read_file(file);
    ASSERT_LT(at, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    write_file(fs::relative(file, root_), bytes);
  }
};

TEST_F(StoreStatesTest, MissingStoreIsEmptyToReadersAndNotCreated) {
  EXPECT_EQ(object({"list"})["handles"].size(), 0u);
  for (const Words& words : readers()) {
    if (words[0] == "list") continue;
    EXPECT_EQ(error(words, 1)["code"], "handle_not_found") << words[0];
  }
  EXPECT_EQ(entries(), Words{"home"});
}

TEST_F(StoreStatesTest, MissingStoreIsMadeByWriters) {
  for (const Words& words : writers()) {
    fs::remove_all(store());
    const Finished done = satchel(words);
    EXPECT_TRUE(done.exit_code <= 1) << words[0] << done.err;
    EXPECT_TRUE(fs::exists(store() + "/SATCHEL")) << words[0];
  }
}

TEST_F(StoreStatesTest, ForeignFolderIsLeftAlone) {
  fs::create_directory(store());
  write_file("store/notes.txt", "mine");
  all_refuse("not_a_store", 5);
}

TEST_F(StoreStatesTest, FileInPlaceOfAFolderIsLeftAlone) {
  write_file("store", "mine");
  for (const Words& words : {Words{"list"}, Words{"mint", "note", "{}"}}) {
    EXPECT_EQ(error(words, 5)["code"], "not_a_store");
  }
  EXPECT_EQ(read_file(store()), "mine");
}

TEST_F(StoreStatesTest, NewerFormatIsLeftAlone) {
  mint();
  std::string text = read_file(store() + "/SATCHEL");
  const auto digit = text.find_first_of("0123456789");
  ASSERT_NE(digit, std::string::npos);
  text.replace(digit, 1, "9");
  write_file("store/SATCHEL", text);
  all_refuse("format_too_new", 5);
}

TEST_F(StoreStatesTest, DamagedFormatFileIsReported) {
  mint();
  write_file("store/SATCHEL", std::string(64, '\xff'));
  const auto before = files();
  EXPECT_EQ(satchel({"list"}).exit_code, 4);
  EXPECT_EQ(satchel({"mint", "note", "{}"}).exit_code, 4);
  expect_same(before);
}

TEST_F(StoreStatesTest, DeletedLogIsReported) {
  mint();
  const std::string log = file_with(".log");
  ASSERT_FALSE(log.empty());
  fs::remove(log);
  all_refuse("store_corrupt", 4);
}

TEST_F(StoreStatesTest, DamageInTheMiddleOfTheLogIsReported) {
  env_["SATCHEL_DURABILITY"] = "sync";
  const Words all = {"revoke", mint(), mint(), mint(), mint()};
  ASSERT_EQ(satchel(all).exit_code, 0);
  std::string largest;
  std::uintmax_t size = 0;
  for (const auto& entry : fs::directory_iterator(store())) {
    if (entry.path().extension() == ".log" && entry.file_size() > size) {
      largest = entry.path();
      size = entry.file_size();
    }
  }
  ASSERT_GT(size, 100u);
  flip(largest, 20);
  EXPECT_EQ(error({"list"}, 4)["code"], "store_corrupt");
  EXPECT_EQ(error({"mint", "note", "{}"}, 4)["code"], "store_corrupt");
}

TEST_F(StoreStatesTest, TornTailOpensAndIsReportedOnStderr) {
  const std::string first = mint();
  const std::string log = file_with(".log");
  std::string bytes = read_file(log);
  const std::string torn = bytes + std::string("\x11\x22\x33\x44\x40\x00", 6);
  write_file(fs::relative(log, root_), torn);
  const Finished done = satchel({"mint", "note", "{}", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_NE(done.err.find("warning"), std::string::npos) << done.err;
  EXPECT_EQ(object({"get", first})["handle"], first);
}

TEST_F(StoreStatesTest, StoreInUseIsReadableAndWritersAreToldWhoHoldsIt) {
  const std::string h = mint();
  auto owner = HandleStore::open(store()).value();
  EXPECT_EQ(object({"get", h})["handle"], h);
  const std::string mine =
      owner->mint("note", Json::object(), {.user = "local"}).value().handle;
  EXPECT_EQ(object({"get", mine})["handle"], mine);
  Json e = error({"mint", "note", "{}"}, 7);
  EXPECT_EQ(e["code"], "store_locked");
  EXPECT_EQ(e["pid"], ::getpid());
  owner.reset();
  EXPECT_EQ(object({"list"})["handles"].size(), 2u);
  mint();
}

TEST_F(StoreStatesTest, ReadersChangeNothing) {
  const std::string h = mint();
  const auto before = files();
  for (const Words& words : std::vector<Words>{{"get", h},
                                               {"list"},
                                               {"history", h},
                                               {"changes", h, "--since", "0"},
                                               {"get", kHandle}}) {
    EXPECT_LE(satchel(words).exit_code, 1);
    SCOPED_TRACE(words[0]);
    expect_same(before);
  }
}

TEST_F(StoreStatesTest, CommandsLeaveNoFilesBehind) {
  const std::string h = mint();
  satchel({"touch", h, "--persist"});
  const std::size_t settled = files().size();
  for (int i = 0; i < 10; ++i) satchel({"touch", h, "--persist"});
  EXPECT_LE(files().size(), settled + 1);
}

}  // namespace
}  // namespace satchel::test
