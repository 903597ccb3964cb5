// The power goes at any operation of the disk; each file loses, for itself, a
// part of what was not synced. sync loses nothing that was acknowledged; the
// others lose a suffix, never a middle, and say so.

#include <atomic>

#include "storage/database.h"
#include "tests/crash/scenario.h"

namespace satchel::test {
namespace {

namespace fs = std::filesystem;
using Fault = FaultFileSystem::Fault;
using Extent = FaultFileSystem::Extent;
using Drop = FaultFileSystem::Drop;

constexpr std::size_t kSteps = 40;
constexpr std::uint64_t kSeeds = 64;

struct Cut {
  std::size_t acknowledged = 0;
  /// One more was sent, and the power went before its answer.
  bool pending = false;
  std::uint64_t operations = 0;
  std::uint64_t lost = 0;
};

class PowerCut : public testing::TestWithParam<Durability> {
 protected:
  Options options() const {
    auto options = quiet_options(GetParam());
    // Synced by the test alone, so that a seed is a history.
    options.sync_interval = std::chrono::hours(1);
    return options;
  }

  /// Writes with flushes and compactions between until operation `end` (0:
  /// never) of the disk, then loses what was not synced.
  Cut write_and_lose(const fs::path& path, std::uint64_t end, Drop drop,
                     std::uint64_t seed) {
    const auto disk = std::make_shared<FaultFileSystem>();
    auto store =
        embedded::open(path.string(), options(), handle_of(disk)).value();
    disk->fail_at(end, Fault::io_error, Extent::from_now_on);
    Cut cut;
    Scenario scenario;
    for (std::size_t i = 0; i < kSteps; ++i) {
      cut.pending = scenario.send(*store, i).has_value();
      if (cut.pending) break;
      ++cut.acknowledged;
      maintain(*store, i);
    }
    cut.operations = disk->operations();
    // Whatever is written from here on is not written.
    disk->fail_at(1, Fault::io_error, Extent::from_now_on);
    store.reset();
    disk->heal();
    cut.lost = disk->drop_unsynced(drop, seed);
    return cut;
  }

  static void maintain(embedded::EmbeddedStore& store, std::size_t i) {
    try {
      if (i % 13 == 6) store.database().flush();
      if (i % 13 == 9) store.database().sync();
      if (i % 20 == 15) store.database().compact_all();
    } catch (const std::exception&) {
      // The power is gone; the next step finds out.
    }
  }

  /// Opens on a good disk; the number of steps that are there.
  std::size_t check(const fs::path& path, const Cut& cut) {
    auto good = options();
    const auto listener = std::make_shared<RecordingListener>();
    good.listener = listener;
    const auto opened = HandleStore::open(path.string(), good);
    EXPECT_TRUE(opened.ok()) << opened.error().to_payload();
    if (!opened.ok()) return 0;
    auto& store = **opened;
    const auto seen = Scenario::describe(store);
    const auto most = cut.acknowledged + (cut.pending ? 1 : 0);
    const auto steps = Scenario::steps_in(seen, most);
    EXPECT_TRUE(steps) << "no prefix of the " << cut.acknowledged
                       << " writes:\n"
                       << seen;
    if (!steps) return 0;
    if (GetParam() == Durability::sync) {
      EXPECT_GE(*steps, cut.acknowledged) << "an acknowledged write is lost";
      EXPECT_EQ(listener->gap_bytes(), 0u);
    }
    reported_ += listener->gap_bytes() + listener->dropped_bytes() > 0 ? 1 : 0;
    gaps_ += listener->gap_bytes() > 0 ? 1 : 0;
    go_on(store, *steps);
    return *steps;
  }

  /// A store that lost something is a store like any other.
  static void go_on(HandleStore& store, std::size_t steps) {
    Scenario scenario;
    scenario.look_up(store);
    for (auto i = steps; i < kSteps; ++i) {
      const auto error = scenario.send(store, i);
      ASSERT_FALSE(error) << "step " << i << ": " << error->message;
    }
    EXPECT_EQ(Scenario::describe(store), Scenario::expected(kSteps));
  }

  std::atomic<std::uint64_t> reported_{0};
  std::atomic<std::uint64_t> gaps_{0};
};

TEST_P(PowerCut, LosesNoMoreThanItMay) {
  std::uint64_t total = 0;
  {
    const TemporaryFolder folder(fast_parent());
    total = write_and_lose(folder.path() / "store", 0, Drop::all, 0).operations;
  }
  ASSERT_GT(total, 100u);
  std::atomic<std::uint64_t> lost_bytes{0};
  std::atomic<std::uint64_t> lost_steps{0};
  const auto visit = [&](std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TemporaryFolder folder(fast_parent());
    const auto path = folder.path() / "store";
    const auto drop = seed % 4 == 0 ? Drop::all : Drop::random;
    const auto end = 1 + (seed * 7919) % total;
    const auto cut = write_and_lose(path, end, drop, seed);
    const auto steps = check(path, cut);
    if (HasFailure()) return;
    lost_bytes += cut.lost;
    lost_steps += steps < cut.acknowledged ? cut.acknowledged - steps : 0;
    EXPECT_EQ(Scenario::describe(
                  *HandleStore::open(path.string(), options()).value()),
              Scenario::expected(kSteps));
  };
  for (std::uint64_t seed = 0; seed < kSeeds; seed += kSideBySide) {
    side_by_side([&](std::size_t i) { visit(seed + i); });
    if (HasFailure()) return;
  }
  std::cout << "operations " << total << ", lost bytes " << lost_bytes
            << ", lost steps " << lost_steps << ", reported " << reported_
            << ", gaps " << gaps_ << std::endl;
  EXPECT_GT(lost_bytes, kSeeds) << "the disk lost nothing";
  if (GetParam() == Durability::sync) {
    EXPECT_EQ(lost_steps, 0u);
  } else {
    EXPECT_GT(lost_steps, 0u) << "nothing was at risk";
    EXPECT_GT(reported_, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Durability, PowerCut,
                         testing::Values(Durability::sync, Durability::interval,
                                         Durability::os),
                         [](const auto& tested) {
                           switch (tested.param) {
                             case Durability::sync:
                               return "sync";
                             case Durability::interval:
                               return "interval";
                             default:
                               return "os";
                           }
                         });

}  // namespace
}  // namespace satchel::test
