// The nth operation on the disk fails, for every n until a run passes: as one
// bad answer, and as a disk (or process) that is dead from there on.

#include <functional>

#include "storage/database.h"
#include "tests/crash/scenario.h"

// RocksDB 7.8.3 loses its new memtable when the log for it cannot be created.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:rocksdb::DBImpl::SwitchMemtable\n";
}

namespace satchel::test {
namespace {

namespace fs = std::filesystem;
using Fault = FaultFileSystem::Fault;
using Extent = FaultFileSystem::Extent;
using Drop = FaultFileSystem::Drop;

constexpr std::size_t kSteps = 12;
/// More than any run has; a loop that comes here does not end.
constexpr std::uint64_t kTooMany = 5000;

/// One run over a disk that may fail, and what it was told.
struct Run {
  bool opened = false;
  std::size_t acknowledged = 0;
  /// The step whose answer was an error, if one was.
  std::optional<Error> refused;
  bool maintained = true;
  bool closed = false;
};

/// True when the work was done.
bool maintain(const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const std::exception& failure) {
    EXPECT_STRNE(failure.what(), "");
    return false;
  }
}

/// Reads work and show one of the two states that may be; writes are refused.
void check_read_only(HandleStore& store, Scenario& scenario, const Run& run) {
  const auto seen = Scenario::describe(store);
  EXPECT_EQ(seen, Scenario::expected(run.acknowledged));
  const auto again = scenario.send(store, run.acknowledged);
  ASSERT_TRUE(again) << "a write after a failed one was taken";
  EXPECT_EQ(name(again->code), "read_only") << again->message;
}

/// Opens, writes, flushes, compacts and closes until something is refused.
Run run_on(const fs::path& path, const std::shared_ptr<FaultFileSystem>& disk) {
  Run run;
  auto opened = embedded::open(path.string(), quiet_options(), handle_of(disk));
  if (!opened.ok()) {
    EXPECT_EQ(name(opened.error().code), "backend_error")
        << opened.error().message;
    return run;
  }
  run.opened = true;
  auto& store = **opened;
  Scenario scenario;
  for (std::size_t i = 0; i < kSteps && !run.refused; ++i) {
    run.refused = scenario.send(store, i);
    if (!run.refused) ++run.acknowledged;
    if (run.refused || !run.maintained) continue;
    if (i == 4) {
      run.maintained = maintain([&] { store.database().flush(); });
    }
    if (i == 8) {
      run.maintained = maintain([&] { store.database().compact_all(); });
    }
  }
  if (run.refused) {
    // A flush that failed may have stopped the store before the write did.
    EXPECT_TRUE(run.refused->code == ErrorCode::backend_error ||
                (!run.maintained && run.refused->code == ErrorCode::read_only))
        << run.refused->message;
    check_read_only(store, scenario, run);
  }
  run.closed = store.close().ok();
  EXPECT_EQ(name(store.get("x_abcdefgh", {.user = kUser}).error().code),
            "store_closed");
  return run;
}

/// On a good disk: what was acknowledged is there, the refused step is whole
/// or absent, and sending it again makes it happen once.
void check_afterwards(const fs::path& path, const Run& run) {
  auto store = HandleStore::open(path.string(), quiet_options()).value();
  const auto seen = Scenario::describe(*store);
  const auto most = run.acknowledged + (run.refused ? 1 : 0);
  const auto steps = Scenario::steps_in(seen, most);
  ASSERT_TRUE(steps) << "after " << run.acknowledged << " steps:\n" << seen;
  EXPECT_GE(*steps, run.acknowledged) << "an acknowledged write is lost";
  Scenario scenario;
  scenario.look_up(*store);
  // A revoke that happened cannot look up its handle.
  const bool revoked = *steps == 10 && run.acknowledged == 9;
  for (auto i = revoked ? *steps : run.acknowledged; i < kSteps; ++i) {
    const auto error = scenario.send(*store, i);
    ASSERT_FALSE(error) << "step " << i << ": " << error->message;
  }
  EXPECT_EQ(Scenario::describe(*store), Scenario::expected(kSteps));
}

struct Case {
  Fault fault;
  Extent extent;
  const char* name;
};

class FailingIo : public testing::TestWithParam<Case> {};

/// What one failing operation led to.
struct Point {
  bool struck = false;
  Run run;
};

Point fail_at(std::uint64_t n, const Case& tested) {
  SCOPED_TRACE("operation " + std::to_string(n) + " fails");
  const TemporaryFolder folder(fast_parent());
  const auto path = folder.path() / "store";
  const auto disk = std::make_shared<FaultFileSystem>();
  disk->fail_at(n, tested.fault, tested.extent);
  Point point;
  point.run = run_on(path, disk);
  check_afterwards(path, point.run);
  point.struck = disk->struck();
  return point;
}

// RocksDB pauses for a second after an error in the background: the points are
// visited side by side.
TEST_P(FailingIo, EveryOperationMayFail) {
  std::uint64_t refused_writes = 0;
  std::uint64_t refused_opens = 0;
  std::uint64_t n = 1;
  for (bool passed = false; !passed;) {
    std::vector<Point> points(kSideBySide);
    side_by_side(
        [&](std::size_t i) { points[i] = fail_at(n + i, GetParam()); });
    ASSERT_FALSE(HasFailure());
    for (const auto& point : points) {
      passed = !point.struck;
      if (passed) {
        EXPECT_TRUE(point.run.opened && point.run.maintained &&
                    point.run.closed);
        EXPECT_EQ(point.run.acknowledged, kSteps);
        break;
      }
      refused_opens += point.run.opened ? 0 : 1;
      refused_writes += point.run.refused ? 1 : 0;
      ++n;
    }
    ASSERT_LT(n, kTooMany) << "no run passes";
  }
  RecordProperty("operations", static_cast<int>(n - 1));
  EXPECT_GT(n, 100u);
  EXPECT_GT(refused_opens, 20u);
  EXPECT_GT(refused_writes, kSteps);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FailingIo,
    testing::Values(
        Case{Fault::io_error, Extent::once, "IoErrorOnce"},
        Case{Fault::io_error, Extent::from_now_on, "IoErrorFromNowOn"},
        Case{Fault::no_space, Extent::once, "NoSpaceOnce"},
        Case{Fault::no_space, Extent::from_now_on, "NoSpaceFromNowOn"}),
    [](const auto& tested) { return tested.param.name; });

/// The first open dies at every operation; `then` is what the power does.
std::uint64_t kill_every_creation(
    const std::function<void(FaultFileSystem&, std::uint64_t n)>& then) {
  for (std::uint64_t n = 1; n < kTooMany; ++n) {
    const testing::ScopedTrace trace(__FILE__, __LINE__,
                                     "dead at " + std::to_string(n));
    const TemporaryFolder folder(fast_parent());
    const auto path = folder.path() / "deep" / "store";
    const auto disk = std::make_shared<FaultFileSystem>();
    disk->fail_at(n, Fault::io_error, Extent::from_now_on);
    const bool opened =
        embedded::open(path.string(), quiet_options(), handle_of(disk)).ok();
    if (opened && !disk->struck()) return n - 1;
    disk->heal();
    then(*disk, n);
    for (const bool read_only : {true, false, false}) {
      auto options = quiet_options();
      options.read_only = read_only;
      const auto store = HandleStore::open(path.string(), options);
      EXPECT_TRUE(store.ok()) << (read_only ? "to read: " : "to write: ")
                              << store.error().to_payload();
      if (!store.ok()) return n;
      EXPECT_EQ(Scenario::describe(**store), Scenario::expected(0));
    }
    check_afterwards(path, Run());
    if (testing::Test::HasFailure()) return n;
  }
  return kTooMany;
}

TEST(KilledCreation, OpensAfterwardsWhereverItEnded) {
  const auto points = kill_every_creation([](FaultFileSystem&, auto) {});
  EXPECT_GT(points, 40u);
  EXPECT_LT(points, kTooMany);
}

TEST(KilledCreation, OpensAfterAPowerCutThatTakesAllUnsynced) {
  const auto points = kill_every_creation(
      [](FaultFileSystem& disk, auto n) { disk.drop_unsynced(Drop::all, n); });
  EXPECT_GT(points, 40u);
  EXPECT_LT(points, kTooMany);
}

TEST(KilledCreation, OpensAfterAPowerCutThatTakesSomeUnsynced) {
  for (std::uint64_t seed = 1; seed <= 2 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto points = kill_every_creation([&](FaultFileSystem& disk, auto n) {
      disk.drop_unsynced(Drop::random, seed * 1'000'003 + n);
    });
    EXPECT_GT(points, 40u);
    EXPECT_LT(points, kTooMany);
  }
}

}  // namespace
}  // namespace satchel::test
