// Which folder the program takes for its store, and what it leaves there.

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/program.h"

namespace satchel::test {
namespace {

namespace fs = std::filesystem;

class PlaceTest : public ProgramTest {
 protected:
  PlaceTest() { env_["SATCHEL_STORE"] = std::nullopt; }

  void refused_without_a_home() {
    Json e = error({"mint", "note", "{}"}, 2);
    EXPECT_EQ(e["field"], "store");
    EXPECT_NE(e["message"].get<std::string>().find("SATCHEL_STORE"),
              std::string::npos);
    EXPECT_EQ(error({"list"}, 2)["field"], "store");
    EXPECT_EQ(entries(), Words{"home"});
  }
};

TEST_F(PlaceTest, DefaultIsBelowHome) {
  object({"mint", "note", "{}"});
  EXPECT_TRUE(fs::exists(path("home/.local/share/satchel/SATCHEL")));
}

TEST_F(PlaceTest, XdgDataHomeMovesTheDefault) {
  env_["XDG_DATA_HOME"] = path("data");
  object({"mint", "note", "{}"});
  EXPECT_TRUE(fs::exists(path("data/satchel/SATCHEL")));
  env_["XDG_DATA_HOME"] = "";
  object({"mint", "note", "{}"});
  EXPECT_TRUE(fs::exists(path("home/.local/share/satchel/SATCHEL")));
}

TEST_F(PlaceTest, HomeThatCannotHoldAStoreIsRefused) {
  env_["HOME"] = std::nullopt;
  refused_without_a_home();
  env_["HOME"] = "";
  refused_without_a_home();
  env_["HOME"] = path("nonexistent");
  refused_without_a_home();
  env_["HOME"] = "/dev/null";
  refused_without_a_home();
  env_["HOME"] = "/";
  refused_without_a_home();
  EXPECT_FALSE(fs::exists("/.local/share/satchel"));
}

TEST_F(PlaceTest, HomeIsNotNeededWhenTheStoreIsNamed) {
  env_["HOME"] = std::nullopt;
  env_["SATCHEL_STORE"] = store();
  object({"mint", "note", "{}"});
  EXPECT_TRUE(fs::exists(store() + "/SATCHEL"));
  env_["SATCHEL_STORE"] = "~/x";
  EXPECT_EQ(error({"list"}, 2)["field"], "store");
}

TEST_F(PlaceTest, OnlyTildeSlashAtTheStartIsExpanded) {
  struct Case {
    std::string given, made;
  };
  const std::string long_name(250, 'n');
  for (const Case& c :
       {Case{"~/a b/é/db", "home/a b/é/db"}, Case{"~", "~"},
        Case{"./~lit/db", "~lit/db"}, Case{"~Folder", "~Folder"},
        Case{"db ", "db "}, Case{"slash/", "slash"}, Case{"$HOME", "$HOME"},
        Case{"%41", "%41"}, Case{long_name, long_name},
        Case{"rocksdb://" + path("lit%41~"), "lit%41~"}}) {
    SCOPED_TRACE(c.given);
    object({"--store", c.given, "mint", "note", "{}"});
    EXPECT_TRUE(fs::exists(path(c.made) + "/SATCHEL"));
    env_["SATCHEL_STORE"] = c.given;
    EXPECT_EQ(object({"list"})["handles"].size(), 1u);
    env_["SATCHEL_STORE"] = std::nullopt;
  }
}

TEST_F(PlaceTest, OptionGoesBeforeVariable) {
  env_["SATCHEL_STORE"] = path("variable");
  object({"--store", path("option"), "mint", "note", "{}"});
  EXPECT_TRUE(fs::exists(path("option")));
  EXPECT_FALSE(fs::exists(path("variable")));
}

TEST_F(PlaceTest, ModesArePrivateWhateverTheUmask) {
  env_["SATCHEL_STORE"] = store();
  for (const unsigned mask : {0u, 022u, 0777u}) {
    fs::remove_all(store());
    umask_ = mask;
    object({"mint", "note", "{}"});
    std::size_t seen = 0;
    for (const auto& entry : fs::recursive_directory_iterator(store())) {
      struct stat info = {};
      ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 07777, entry.is_directory() ? 0700u : 0600u)
          << entry.path();
      ++seen;
    }
    EXPECT_GT(seen, 3u);
    EXPECT_EQ(static_cast<unsigned>(fs::status(store()).permissions()), 0700u);
  }
}

TEST_F(PlaceTest, LoosenedModesAreTightenedOnOpen) {
  env_["SATCHEL_STORE"] = store();
  object({"mint", "note", "{}"});
  fs::permissions(store(), fs::perms(0755));
  fs::permissions(store() + "/SATCHEL", fs::perms(0644));
  object({"mint", "note", "{}"});
  EXPECT_EQ(static_cast<unsigned>(fs::status(store()).permissions()), 0700u);
  EXPECT_EQ(
      static_cast<unsigned>(fs::status(store() + "/SATCHEL").permissions()),
      0600u);
}

TEST_F(PlaceTest, UnwritableParentIsAClearError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::create_directory(path("closed"));
  fs::permissions(path("closed"), fs::perms(0555));
  env_["SATCHEL_STORE"] = path("closed/store");
  const Finished done = satchel({"mint", "note", "{}"});
  EXPECT_EQ(done.exit_code, 5);
  EXPECT_NE(done.err.find(path("closed/store")), std::string::npos);
}

}  // namespace
}  // namespace satchel::test
