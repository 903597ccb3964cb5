// A folder that cannot be opened is left as it was: not one byte, name, mode or
// time in it changes, and the error is the reason's own.

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "storage/folder.h"
#include "storage/folder_file.h"
#include "tests/crash/scenario.h"

namespace satchel::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// A line for everything about a path but when it was last read.
std::string facts(const fs::path& path) {
  struct stat s {};
  if (::lstat(path.c_str(), &s) != 0) return "nothing";
  std::ostringstream out;
  out << s.st_ino << ' ' << std::oct << s.st_mode << std::dec << ' ' << s.st_uid
      << ' ' << s.st_size << ' ' << s.st_mtim.tv_sec << '.' << s.st_mtim.tv_nsec
      << ' ' << s.st_ctim.tv_sec << '.' << s.st_ctim.tv_nsec;
  if (S_ISREG(s.st_mode)) out << ' ' << read_file(path);
  return out.str();
}

std::map<std::string, std::string> picture(const fs::path& path) {
  std::map<std::string, std::string> all = {{"", facts(path)}};
  if (!fs::is_directory(path)) return all;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    all[entry.path().string()] = facts(entry.path());
  }
  return all;
}

class Refusal : public testing::Test {
 protected:
  void make_store(Durability durability = Durability::sync) {
    auto store =
        HandleStore::open(path_.string(), quiet_options(durability)).value();
    Scenario scenario;
    for (std::size_t i = 0; i < 6; ++i) {
      ASSERT_FALSE(scenario.send(*store, i));
    }
  }

  fs::path log() const {
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().extension() == ".log") return entry.path();
    }
    return {};
  }

  /// Opens for writing, as `user`; expects this error and nothing changed.
  std::string refuse(std::string_view code, uid_t user = 0) {
    const auto before = picture(path_);
    if (user != 0) {
      EXPECT_EQ(::seteuid(user), 0);
    }
    const auto store = HandleStore::open(path_.string(), quiet_options());
    if (user != 0) {
      EXPECT_EQ(::seteuid(0), 0);
    }
    EXPECT_EQ(picture(path_), before);
    EXPECT_FALSE(store.ok());
    if (store.ok()) return {};
    EXPECT_EQ(name(store.error().code), code) << store.error().message;
    return store.error().message;
  }

  const TemporaryFolder folder_{fast_parent()};
  const fs::path path_ = folder_.path() / "store";
};

TEST_F(Refusal, AFile) {
  write_file(path_, "a file");
  refuse("not_a_store");
}

TEST_F(Refusal, AForeignFolder) {
  fs::create_directory(path_);
  write_file(path_ / "notes.txt", "mine");
  fs::permissions(path_, fs::perms(0755));
  refuse("not_a_store");
}

TEST_F(Refusal, AFolderOfRocksDbThatIsNoStore) {
  make_store();
  fs::remove(path_ / "SATCHEL");
  refuse("not_a_store");
}

TEST_F(Refusal, ANewerFormat) {
  make_store();
  auto file = read_file(path_ / "SATCHEL");
  file.replace(file.find(" 1\n"), 3, " 2\n");
  write_file(path_ / "SATCHEL", file);
  refuse("format_too_new");
}

TEST_F(Refusal, ADamagedFolderFile) {
  make_store();
  auto file = read_file(path_ / "SATCHEL");
  file[30] = static_cast<char>(file[30] ^ 1);
  write_file(path_ / "SATCHEL", file);
  refuse("store_corrupt");
}

TEST_F(Refusal, AStoreInUse) {
  make_store();
  const auto owner = HandleStore::open(path_.string(), quiet_options()).value();
  refuse("store_locked");
  EXPECT_TRUE(owner->list(kUser).ok());
}

TEST_F(Refusal, ADamagedLog) {
  make_store();
  auto bytes = read_file(log());
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  write_file(log(), bytes);
  // What only a successful open may tidy up.
  write_file(path_ / "SATCHEL.tmp-0011223344556677", "left over");
  write_file(path_ / "OWNER", "1 elsewhere\n");
  fs::permissions(log(), fs::perms(0644));
  refuse("store_corrupt");
}

TEST_F(Refusal, AMissingLog) {
  make_store();
  fs::remove(log());
  refuse("store_corrupt");
}

TEST_F(Refusal, AMissingCurrent) {
  make_store();
  fs::remove(path_ / "CURRENT");
  refuse("store_corrupt");
}

TEST_F(Refusal, AnotherUsersStore) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  make_store();
  fs::permissions(folder_.path(), fs::perms(0755));
  const auto message = refuse("backend_error", kNobody);
  EXPECT_NE(message.find("permission"), std::string::npos) << message;
}

TEST_F(Refusal, AStoreThatItsUserMayOnlyRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  make_store();
  fs::permissions(folder_.path(), fs::perms(0755));
  fs::permissions(path_, fs::perms(0755));
  for (const auto& entry : fs::directory_iterator(path_)) {
    fs::permissions(entry.path(), fs::perms(0644));
  }
  const auto message = refuse("backend_error", kNobody);
  EXPECT_NE(message.find("permission"), std::string::npos) << message;
}

TEST_F(Refusal, AFolderThatMayNotBeMade) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  fs::permissions(folder_.path(), fs::perms(0755));
  const auto message = refuse("backend_error", kNobody);
  EXPECT_NE(message.find("permission"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace satchel::test
