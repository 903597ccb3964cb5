// A disk without room: the error says so, reads work, nothing acknowledged is
// lost, and with room again the store works.

#include <sys/mount.h>

#include <cstring>
#include <fstream>

#include "storage/database.h"
#include "tests/crash/scenario.h"

namespace satchel::test {
namespace {

namespace fs = std::filesystem;

/// A file system of 16 MiB of its own.
class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    const auto where = folder_.path().string();
    if (::mount("tmpfs", where.c_str(), "tmpfs", 0, "size=16m") != 0) {
      GTEST_SKIP() << "a small file system cannot be mounted here ("
                   << std::strerror(errno) << "); run as root";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount(folder_.path().c_str());
  }

  /// Takes all the room there is.
  void fill() const {
    std::ofstream out(ballast_, std::ios::binary);
    for (std::size_t size = 1 << 20; size > 0; size /= 2) {
      const std::string bytes(size, 'x');
      while (
          out.write(bytes.data(), static_cast<std::streamsize>(size)).flush()) {
      }
      out.clear();
    }
  }
  void make_room() const { fs::remove(ballast_); }

  static void expect_full(const Error& error) {
    EXPECT_EQ(name(error.code), "backend_error") << error.message;
    EXPECT_NE(error.message.find("disk is full"), std::string::npos)
        << error.message;
  }

  const TemporaryFolder folder_;
  const fs::path path_ = folder_.path() / "store";
  const fs::path ballast_ = folder_.path() / "ballast";
  bool mounted_ = false;
};

TEST_F(FullDisk, AWriteSaysSoAndWorksWhenThereIsRoom) {
  auto store = HandleStore::open(path_.string(), quiet_options()).value();
  const std::string page(100'000, 'p');
  std::vector<std::string> minted;
  std::optional<Error> refused;
  while (!refused && minted.size() < 1000) {
    const auto answer = store->mint(
        "page", Json{{"n", minted.size()}, {"page", page}}, {.user = kUser});
    if (answer.ok()) {
      minted.push_back(answer->handle);
    } else {
      refused = answer.error();
    }
  }
  ASSERT_TRUE(refused) << "16 MiB never filled up";
  expect_full(*refused);
  EXPECT_GT(minted.size(), 20u);
  const auto check = [&] {
    for (std::size_t i = 0; i < minted.size(); ++i) {
      const auto state =
          store->get(minted[i], {.user = kUser}).value().state.value();
      ASSERT_EQ(state.json()["n"], i);
      ASSERT_EQ(state.json()["page"], page);
    }
  };
  check();
  const auto again = store->mint("page", Json::object(), {.user = kUser});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(name(again.error().code), "read_only");
  (void)store->close();

  // Room: the disk grows.
  ASSERT_EQ(
      ::mount("tmpfs", folder_.path().c_str(), "tmpfs", MS_REMOUNT, "size=64m"),
      0);
  store = HandleStore::open(path_.string(), quiet_options()).value();
  check();
  EXPECT_LE(store->list(kUser, {.limit = 1000}).value().handles.size(),
            minted.size() + 1);
  EXPECT_TRUE(store->mint("page", Json::object(), {.user = kUser}).ok());
}

TEST_F(FullDisk, OpeningSaysSoAndLosesNothing) {
  Scenario scenario;
  {
    auto store = HandleStore::open(path_.string(), quiet_options()).value();
    for (std::size_t i = 0; i < 10; ++i) {
      ASSERT_FALSE(scenario.send(*store, i));
    }
  }
  fill();
  for (int time = 0; time < 3; ++time) {
    const auto store = HandleStore::open(path_.string(), quiet_options());
    ASSERT_FALSE(store.ok()) << "there was room left";
    expect_full(store.error());
  }
  auto reading = quiet_options();
  reading.read_only = true;
  EXPECT_EQ(
      Scenario::describe(*HandleStore::open(path_.string(), reading).value()),
      Scenario::expected(10));
  make_room();
  const auto store = HandleStore::open(path_.string(), quiet_options()).value();
  EXPECT_EQ(Scenario::describe(*store), Scenario::expected(10));
  EXPECT_FALSE(scenario.send(*store, 10));
}

TEST_F(FullDisk, CreatingSaysSoAndWorksWhenThereIsRoom) {
  fill();
  const auto refused = HandleStore::open(path_.string(), quiet_options());
  ASSERT_FALSE(refused.ok());
  expect_full(refused.error());
  make_room();
  const auto store = HandleStore::open(path_.string(), quiet_options()).value();
  EXPECT_FALSE(Scenario().send(*store, 0));
}

}  // namespace
}  // namespace satchel::test
