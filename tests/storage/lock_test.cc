#include "storage/lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <thread>

#include "storage/failure.h"
#include "storage/file_system.h"
#include "storage/folder.h"
#include "tests/storage/child.h"
#include "tests/storage/raw_database.h"

namespace satchel::storage::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Kind = Failure::Kind;

/// A child that holds the lock of a folder until it is told to end.
class Holder {
 public:
  explicit Holder(const std::string& path) {
    int ready[2], end[2];
    if (::pipe(ready) != 0 || ::pipe(end) != 0)
      throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(end[1]);
      const auto lock = FolderLock::acquire(path, 0ms);
      lock.announce(path);
      char byte = 'x';
      (void)!::write(ready[1], &byte, 1);
      (void)!::read(end[0], &byte, 1);
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(end[0]);
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1) throw std::runtime_error("no lock");
    ::close(ready[0]);
    end_ = end[1];
  }
  ~Holder() { finish(); }
  int pid() const { return pid_; }
  void kill() { ::kill(pid_, SIGKILL); }
  void finish() {
    if (end_ < 0) return;
    ::close(end_);
    end_ = -1;
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }

 private:
  pid_t pid_ = -1;
  int end_ = -1;
};

class Lock : public testing::Test {
 protected:
  void SetUp() override {
    create_folder(path_, FileSystemHandle{rocksdb::FileSystem::Default()});
  }
  /// The pid of the refusal.
  std::int64_t refused(const std::string& path,
                       std::chrono::milliseconds wait = 0ms) {
    try {
      const auto lock = FolderLock::acquire(path, wait);
      ADD_FAILURE() << "not refused";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind, Kind::locked);
      EXPECT_EQ(std::string(failure.what()).find('/'), std::string::npos);
      return failure.pid;
    }
    return -1;
  }

  Scratch scratch_;
  const std::string path_ = scratch_ / "store";
};

TEST_F(Lock, SecondOpenInTheSameProcessIsRefused) {
  auto lock = FolderLock::acquire(path_, 0ms);
  lock.announce(path_);
  EXPECT_TRUE(lock.held());
  EXPECT_EQ(refused(path_), ::getpid());
  lock.release();
  EXPECT_FALSE(lock.held());
  EXPECT_TRUE(FolderLock::acquire(path_, 0ms).held());
}

TEST_F(Lock, EveryAliasIsTheSameStore) {
  fs::create_directory_symlink(path_, scratch_ / "link");
  const auto lock = FolderLock::acquire(scratch_ / "link", 0ms);
  lock.announce(path_);
  for (const auto& alias : {path_, path_ + "/", path_ + "/../store",
                            scratch_ / "link/.", path_ + "//"}) {
    EXPECT_EQ(refused(alias), ::getpid()) << alias;
  }
  EXPECT_EQ(in_child([&] {
              return kind_of([&] { FolderLock::acquire(path_, 0ms); });
            }),
            number(Kind::locked));
}

TEST_F(Lock, OtherProcessIsNamedAndKillFreesIt) {
  Holder holder(path_);
  EXPECT_EQ(refused(path_), holder.pid());
  holder.kill();
  EXPECT_TRUE(FolderLock::acquire(path_, 5000ms).held());
}

TEST_F(Lock, LeftoverOwnerMeansNothing) {
  for (const char* text : {"1 ?\n", "", "x", "-5 host\n", "4194999 host\n",
                           "99999999999999999999 h\n"}) {
    write_file(path_ + "/OWNER", text);
    EXPECT_TRUE(FolderLock::acquire(path_, 0ms).held());
    const auto lock = FolderLock::acquire(path_, 0ms);
    write_file(path_ + "/OWNER", text);
    EXPECT_EQ(refused(path_), 0) << text;
  }
}

TEST_F(Lock, PidOfADeadOwnerIsNotNamed) {
  {
    Holder holder(path_);
    holder.kill();
  }
  const auto leftover = read_file(path_ + "/OWNER");
  const auto lock = FolderLock::acquire(path_, 0ms);
  lock.announce(path_);
  ASSERT_NE(read_file(path_ + "/OWNER"), leftover);
  write_file(path_ + "/OWNER", leftover);
  EXPECT_EQ(refused(path_), 0);
}

TEST_F(Lock, OwnerFileIsPrivateAndRewrittenInPlace) {
  write_file(path_ + "/OWNER", std::string(300, 'x'));
  fs::permissions(path_ + "/OWNER", fs::perms(0644));
  const auto lock = FolderLock::acquire(path_, 0ms);
  lock.announce(path_);
  const auto text = read_file(path_ + "/OWNER");
  EXPECT_EQ(text.rfind(std::to_string(::getpid()) + " ", 0), 0U);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(fs::status(path_ + "/OWNER").permissions(), fs::perms(0600));
}

TEST_F(Lock, RefusedOpenChangesNothing) {
  Holder holder(path_);
  const auto times = [&] {
    std::string all;
    for (const char* name : {"", "/SATCHEL", "/OWNER"}) {
      struct stat info {};
      ::lstat((path_ + name).c_str(), &info);
      all += std::to_string(info.st_mtim.tv_nsec) + " " +
             std::to_string(info.st_ctim.tv_nsec) + " ";
    }
    return all + read_file(path_ + "/OWNER");
  };
  const auto before = times();
  refused(path_);
  EXPECT_EQ(times(), before);
}

TEST_F(Lock, WaitsUntilTheOwnerIsGone) {
  Holder holder(path_);
  std::thread owner([&] { holder.finish(); });
  EXPECT_TRUE(FolderLock::acquire(path_, 10'000ms).held());
  owner.join();
}

TEST_F(Lock, WaitsNoLongerThanItWasTold) {
  Holder holder(path_);
  const auto start = std::chrono::steady_clock::now();
  refused(path_, 120ms);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, 120ms);
  EXPECT_LT(took, 5000ms);
}

TEST_F(Lock, ExecutedProgramDoesNotInheritIt) {
  auto lock = FolderLock::acquire(path_, 0ms);
  lock.announce(path_);
  int end[2];
  ASSERT_EQ(::pipe(end), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(end[0], 0);
    ::close(end[0]);
    ::close(end[1]);
    ::execlp("cat", "cat", nullptr);
    ::_exit(1);
  }
  ::close(end[0]);
  lock.release();
  // Until the child has executed the program it shares the lock.
  EXPECT_TRUE(FolderLock::acquire(path_, 5000ms).held());
  ::close(end[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Lock, MoveHandsItOn) {
  FolderLock lock;
  EXPECT_FALSE(lock.held());
  lock = FolderLock::acquire(path_, 0ms);
  lock.announce(path_);
  FolderLock other(std::move(lock));
  EXPECT_TRUE(other.held());
  EXPECT_EQ(refused(path_), ::getpid());
}

TEST_F(Lock, WithoutAStoreThereIsNothingToLock) {
  EXPECT_EQ(kind_of([&] { FolderLock::acquire(scratch_ / "none", 0ms); }),
            number(Kind::not_a_store));
}

TEST_F(Lock, UnwritableStoreIsNoPermission) {
  fs::permissions(scratch_.path(), fs::perms(0755));
  fs::permissions(path_, fs::perms(0755));
  fs::permissions(path_ + "/SATCHEL", fs::perms(0444));
  EXPECT_EQ(as_nobody([&] {
              return kind_of([&] { FolderLock::acquire(path_, 0ms); });
            }),
            number(Kind::no_permission));
}

TEST_F(Lock, OneOfManyContendersHoldsIt) {
  std::atomic<int> holding{0}, most{0}, turns{0};
  std::vector<std::thread> contenders;
  for (int i = 0; i < 8; ++i) {
    contenders.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn) {
        const auto lock = FolderLock::acquire(path_, 60'000ms);
        most = std::max(most.load(), ++holding);
        ++turns;
        --holding;
      }
    });
  }
  for (auto& contender : contenders) contender.join();
  EXPECT_EQ(turns, 40);
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace satchel::storage::test
