#include "storage/folder.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <sys/stat.h>

#include <map>
#include <thread>

#include "storage/failure.h"
#include "storage/file_system.h"
#include "storage/folder_file.h"
#include "tests/storage/child.h"
#include "tests/storage/raw_database.h"
#include "tests/support/fault_file_system.h"

namespace satchel::storage::test {
namespace {

using satchel::test::FaultFileSystem;
using Kind = Failure::Kind;
namespace fs = std::filesystem;

FileSystemHandle disk() { return {rocksdb::FileSystem::Default()}; }

unsigned mode(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

/// Everything under a folder: names, types, modes, times, contents.
std::map<std::string, std::string> picture(const std::string& root) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    struct stat info {};
    ::lstat(entry.path().c_str(), &info);
    all[entry.path()] = std::to_string(info.st_mode) + " " +
                        std::to_string(info.st_mtim.tv_nsec) + " " +
                        std::to_string(info.st_ctim.tv_nsec) + " " +
                        (S_ISREG(info.st_mode) ? read_file(entry.path()) : "");
  }
  return all;
}

class Folder : public testing::Test {
 protected:
  /// Looking and creating are refused alike, and nothing changes.
  void expect_refused(const std::string& path, Kind kind) {
    const auto before = picture(scratch_.path());
    EXPECT_EQ(kind_of([&] { look_at_folder(path); }), number(kind)) << path;
    EXPECT_EQ(kind_of([&] { create_folder(path, disk()); }), number(kind))
        << path;
    EXPECT_EQ(picture(scratch_.path()), before) << path;
  }
  void expect_works(const std::string& path) {
    EXPECT_EQ(look_at_folder(path).state, FolderState::missing) << path;
    const auto made = create_folder(path, disk());
    EXPECT_EQ(made.state, FolderState::interrupted) << path;
    EXPECT_EQ(look_at_folder(path).id, made.id) << path;
  }
  void make_file(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(scratch_ / name).parent_path());
    write_file(scratch_ / name, text);
  }

  Scratch scratch_;
  const std::string path_ = scratch_ / "store";
};

TEST_F(Folder, CreatedFolderIsPrivateAndNamesItself) {
  const auto old_mask = ::umask(0);
  const auto made = create_folder(scratch_ / "a/b/store", disk());
  ::umask(old_mask);
  EXPECT_EQ(made.format, 1U);
  EXPECT_EQ(made.id.size(), 32U);
  for (const char* folder : {"a", "a/b", "a/b/store"}) {
    EXPECT_EQ(mode(scratch_ / folder), 0700U) << folder;
  }
  EXPECT_EQ(mode(scratch_ / "a/b/store/SATCHEL"), 0600U);
  EXPECT_EQ(picture(scratch_ / "a/b/store").size(), 1U);
  EXPECT_NE(create_folder(scratch_ / "other", disk()).id, made.id);
}

TEST_F(Folder, TextOfSatchelIsPinned) {
  const std::string text =
      encode_folder_file({1, "00112233445566778899aabbccddeeff"});
  EXPECT_EQ(text,
            "satchel format 1\nid 00112233445566778899aabbccddeeff\n"
            "check 648cfe34c797b98e\n");
}

TEST_F(Folder, StatesAreToldApart) {
  EXPECT_EQ(look_at_folder(path_).state, FolderState::missing);
  fs::create_directory(path_);
  EXPECT_EQ(look_at_folder(path_).state, FolderState::empty);
  write_file(path_ + "/SATCHEL.tmp-0123456789abcdef", "satch");
  EXPECT_EQ(look_at_folder(path_).state, FolderState::empty);
  const auto made = create_folder(path_, disk());
  EXPECT_EQ(made.state, FolderState::interrupted);
  { RawDatabase database(path_); }
  const auto complete = look_at_folder(path_);
  EXPECT_EQ(complete.state, FolderState::complete);
  EXPECT_EQ(complete.id, made.id);
  remove_leftovers(path_, disk());
  EXPECT_FALSE(fs::exists(path_ + "/SATCHEL.tmp-0123456789abcdef"));
}

TEST_F(Folder, UnusualNamesWork) {
  expect_works(path_ + "///");
  expect_works(scratch_ / "with space, 'quotes' and \xc3\xa9");
  expect_works(scratch_ / std::string(250, 'n'));
  fs::create_directory(scratch_ / "real");
  fs::create_directory_symlink(scratch_ / "real", scratch_ / "link");
  expect_works(scratch_ / "link/store");
  const auto old_folder = fs::current_path();
  fs::current_path(scratch_.path());
  expect_works("relative");
  expect_works("./deep/relative/");
  fs::current_path(old_folder);
  EXPECT_TRUE(fs::exists(scratch_ / "deep/relative/SATCHEL"));
}

TEST_F(Folder, LinkToAFolderIsThatFolder) {
  const auto made = create_folder(path_, disk());
  fs::create_directory_symlink(path_, scratch_ / "link");
  EXPECT_EQ(look_at_folder(scratch_ / "link").id, made.id);
}

TEST_F(Folder, WhatIsNoStoreIsRefused) {
  make_file("file", "text");
  make_file("foreign/notes.txt", "text");
  make_file("hidden/.git", "");
  make_file("database/CURRENT", "MANIFEST-000001\n");
  fs::create_symlink("nowhere", scratch_ / "dangling");
  fs::create_directories(scratch_ / "folder/SATCHEL");
  make_file("linked/x", "");
  fs::remove(scratch_ / "linked/x");
  fs::create_symlink("../file", scratch_ / "linked/SATCHEL");
  fs::create_directory(scratch_ / "pipe");
  ASSERT_EQ(::mkfifo((scratch_ / "pipe/SATCHEL").c_str(), 0600), 0);
  for (const char* name :
       {"file", "file/", "file/below", "foreign", "hidden", "database",
        "dangling", "dangling/below", "folder", "linked", "pipe"}) {
    expect_refused(scratch_ / name, Kind::not_a_store);
  }
  expect_refused("", Kind::not_a_store);
}

TEST_F(Folder, LaterFormatIsRefusedWhateverFollows) {
  for (const char* text :
       {"satchel format 2\n", "satchel format 2\nnew stuff\n",
        "satchel format 4294967297\nx",
        "satchel format 99999999999999999999999\n"}) {
    make_file("store/SATCHEL", text);
    make_file("store/CURRENT", "whatever");
    expect_refused(path_, Kind::format_too_new);
  }
}

TEST_F(Folder, EveryDamagedByteOfSatchelIsRefused) {
  create_folder(path_, disk());
  const auto whole = read_file(path_ + "/SATCHEL");
  std::size_t points = 0;
  for (std::size_t i = 0; i < whole.size(); ++i, ++points) {
    auto damaged = whole;
    damaged[i] ^= 8;  // '1' becomes '9': a later format
    write_file(path_ + "/SATCHEL", damaged);
    expect_refused(path_, i == 15 ? Kind::format_too_new : Kind::corrupt);
    write_file(path_ + "/SATCHEL", whole.substr(0, i));
    expect_refused(path_, Kind::corrupt);
  }
  EXPECT_EQ(points, 76U);
  for (const std::string& text :
       {whole + "x", whole + whole, std::string(9000, 'a'),
        "satchel format 0" + whole.substr(16)}) {
    write_file(path_ + "/SATCHEL", text);
    expect_refused(path_, Kind::corrupt);
  }
}

TEST_F(Folder, DataWithoutCurrentIsDamage) {
  create_folder(path_, disk());
  { RawDatabase database(path_); }
  fs::remove(path_ + "/CURRENT");
  expect_refused(path_, Kind::corrupt);
}

TEST_F(Folder, TooLongNameIsAnError) {
  expect_refused(scratch_ / std::string(256, 'n'), Kind::io);
}

TEST_F(Folder, WhatMayNotBeUsedIsRefusedBeforeAnythingIsMade) {
  fs::permissions(scratch_.path(), fs::perms(0755));
  fs::create_directory(scratch_ / "closed");
  make_file("unreadable/SATCHEL", "satchel");
  fs::create_directory(scratch_ / "empty");
  for (const char* name : {"closed", "unreadable"}) {
    fs::permissions(scratch_ / name, fs::perms(0));
  }
  fs::permissions(scratch_ / "empty", fs::perms(0555));
  const auto kind = number(Kind::no_permission);
  const auto before = picture(scratch_ / "empty");
  EXPECT_EQ(as_nobody([&] {
              const auto look = [&](const char* name) {
                return kind_of([&] { look_at_folder(scratch_ / name); });
              };
              const auto create = [&](const char* name) {
                return kind_of([&] { create_folder(scratch_ / name, disk()); });
              };
              if (look("closed/store") != kind) return 1;
              if (look("unreadable") != kind) return 2;
              if (create("new/deep/store") != kind) return 3;
              if (create("empty") != kind) return 4;
              if (create("empty/a/b") != kind) return 5;
              return look("empty") == -1 ? 0 : 6;
            }),
            0);
  EXPECT_EQ(picture(scratch_ / "empty"), before);
  EXPECT_FALSE(fs::exists(scratch_ / "new"));
  for (const char* name : {"closed", "unreadable"}) {
    fs::permissions(scratch_ / name, fs::perms(0700));
  }
}

TEST_F(Folder, UnreadableSatchelIsNoPermission) {
  fs::permissions(scratch_.path(), fs::perms(0755));
  make_file("store/SATCHEL", "satchel");
  fs::permissions(path_ + "/SATCHEL", fs::perms(0));
  EXPECT_EQ(as_nobody([&] { return kind_of([&] { look_at_folder(path_); }); }),
            number(Kind::no_permission));
}

TEST_F(Folder, CreatorsAtOnceAgree) {
  for (int round = 0; round < 20; ++round) {
    const auto path = scratch_ / ("race" + std::to_string(round));
    std::vector<std::string> ids(4);
    std::vector<std::thread> creators;
    for (auto& id : ids) {
      creators.emplace_back([&] { id = create_folder(path, disk()).id; });
    }
    for (auto& creator : creators) creator.join();
    EXPECT_EQ(ids, std::vector<std::string>(4, look_at_folder(path).id));
    EXPECT_EQ(picture(path).size(), 1U);
  }
}

TEST_F(Folder, CreationThatFailsAtAnyPointCanBeRepeated) {
  for (const auto extent :
       {FaultFileSystem::Extent::once, FaultFileSystem::Extent::from_now_on}) {
    std::uint64_t points = 0;
    for (bool struck = true; struck; ++points) {
      const auto path = scratch_ / ("deep" + std::to_string(points) + "/store");
      const auto faulty = std::make_shared<FaultFileSystem>();
      faulty->fail_at(points + 1, FaultFileSystem::Fault::no_space, extent);
      const auto kind =
          kind_of([&] { create_folder(path, FileSystemHandle{faulty}); });
      struck = faulty->struck();
      EXPECT_TRUE(struck || kind == -1);
      EXPECT_TRUE(kind == -1 || kind == number(Kind::no_space)) << points;
      const auto made = create_folder(path, disk());
      EXPECT_EQ(made.state, FolderState::interrupted);
      remove_leftovers(path, disk());
      EXPECT_EQ(picture(path).size(), 1U) << points;
      fs::remove_all(fs::path(path).parent_path());
    }
    // Two folders, the file (create, append, sync), link, unlink, three syncs
    // of folders, and the run that passes.
    EXPECT_EQ(points, 11U);
  }
}

TEST_F(Folder, PowerCutAfterCreationLosesNothing) {
  const auto faulty = std::make_shared<FaultFileSystem>();
  const auto made = create_folder(path_, FileSystemHandle{faulty});
  faulty->drop_unsynced(FaultFileSystem::Drop::all, 1);
  EXPECT_EQ(look_at_folder(path_).id, made.id);
}

TEST_F(Folder, LooseModesAreTightened) {
  create_folder(path_, disk());
  make_file("elsewhere", "x");
  fs::permissions(scratch_ / "elsewhere", fs::perms(0644));
  fs::create_symlink(scratch_ / "elsewhere", path_ + "/link");
  write_file(path_ + "/000004.sst", "x");
  fs::permissions(path_ + "/000004.sst", fs::perms(0664));
  fs::permissions(path_ + "/SATCHEL", fs::perms(0644));
  fs::permissions(path_, fs::perms(0755));
  tighten_permissions(path_);
  EXPECT_EQ(mode(path_), 0700U);
  EXPECT_EQ(mode(path_ + "/SATCHEL"), 0600U);
  EXPECT_EQ(mode(path_ + "/000004.sst"), 0600U);
  EXPECT_EQ(mode(scratch_ / "elsewhere"), 0644U);
  tighten_permissions(scratch_ / "missing");
}

TEST_F(Folder, ModesOfOthersAreLeftAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to make another's file";
  create_folder(path_, disk());
  fs::permissions(path_, fs::perms(0755));
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  tighten_permissions(path_);
  EXPECT_EQ(mode(path_), 0755U);
}

}  // namespace
}  // namespace satchel::storage::test
