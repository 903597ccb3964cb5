// A log that was damaged or cut: what was acknowledged is there, or the store
// is refused; only the last record may be lost.

#include <fstream>
#include <iterator>

#include "tests/crash/scenario.h"

namespace satchel::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSteps = 10;
/// Opening for writing takes a copy of the folder: every so many bytes.
constexpr std::size_t kWriteStride = 23;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<fs::path> logs_in(const fs::path& folder) {
  std::vector<fs::path> logs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  return logs;
}

struct Found {
  /// None: refused with store_corrupt.
  std::optional<std::size_t> steps;
  std::uint64_t dropped = 0;
  std::uint64_t gap = 0;
};

/// A store of kSteps writes in one log, whose bytes tests replace.
class WalDamage : public testing::TestWithParam<Durability> {
 protected:
  void SetUp() override {
    auto store =
        HandleStore::open(path_.string(), quiet_options(GetParam())).value();
    const auto logs = logs_in(path_);
    ASSERT_EQ(logs.size(), 1u);
    log_ = logs[0].filename();
    Scenario scenario;
    ends_.push_back(fs::file_size(logs[0]));
    for (std::size_t i = 0; i < kSteps; ++i) {
      ASSERT_FALSE(scenario.send(*store, i));
      ends_.push_back(fs::file_size(logs[0]));
    }
    // As a crash leaves it: closing may write one record more.
    whole_ = read_file(logs[0]);
    store.reset();
    ASSERT_LT(whole_.size(), 8000u);
    RecordProperty("log_bytes", static_cast<int>(whole_.size()));
  }

  /// Opens with these bytes as the log, in place: a reader changes nothing.
  Found read(const std::string& log) {
    write_file(path_ / log_, log);
    return look(path_, true);
  }

  /// The same for writing, on a copy; and what it shows is there once more
  /// after a reopen.
  Found write(const std::string& log) {
    const TemporaryFolder copy(fast_parent());
    fs::copy(path_, copy.path(), fs::copy_options::recursive);
    write_file(copy.path() / log_, log);
    const auto found = look(copy.path(), false);
    const auto again = look(copy.path(), false);
    EXPECT_EQ(again.steps, found.steps) << "a second open shows another store";
    EXPECT_EQ(again.gap, found.steps ? 0 : found.gap);
    return found;
  }

  static Found look(const fs::path& folder, bool read_only) {
    auto options = quiet_options(GetParam());
    const auto listener = std::make_shared<RecordingListener>();
    options.listener = listener;
    options.read_only = read_only;
    const auto store = HandleStore::open(folder.string(), options);
    Found found;
    if (store.ok()) {
      const auto seen = Scenario::describe(**store);
      found.steps = Scenario::steps_in(seen, kSteps);
      EXPECT_TRUE(found.steps) << "shows what never was:\n" << seen;
    } else {
      EXPECT_EQ(name(store.error().code), "store_corrupt")
          << store.error().message;
    }
    found.dropped = listener->dropped_bytes();
    found.gap = listener->gap_bytes();
    return found;
  }

  /// Every byte for the default durability, a sample for the other.
  static std::size_t stride() { return GetParam() == Durability::sync ? 1 : 7; }

  std::string flipped(std::size_t at) const {
    auto log = whole_;
    log[at] = static_cast<char>(~log[at]);
    return log;
  }

  /// Steps whose records lie before `offset`.
  std::size_t steps_before(std::size_t offset) const {
    std::size_t steps = 0;
    while (steps < kSteps && ends_[steps + 1] <= offset) ++steps;
    return steps;
  }

  void check_flip(std::size_t at, const Found& found) {
    SCOPED_TRACE("flipped byte " + std::to_string(at));
    if (found.steps == kSteps) {
      // Nothing was lost, so nothing was touched that matters; the log has no
      // such byte.
      ADD_FAILURE() << "damage went unseen";
    } else if (at >= ends_[kSteps - 1]) {
      EXPECT_EQ(found.steps, kSteps - 1);
      EXPECT_EQ(found.dropped, whole_.size() - ends_[kSteps - 1]);
    } else if (GetParam() == Durability::sync) {
      EXPECT_FALSE(found.steps) << "acknowledged writes are gone";
    } else if (found.steps) {
      EXPECT_EQ(found.steps, steps_before(at)) << "not the longest good part";
      EXPECT_GT(found.gap, 0u) << "a loss was not reported";
    } else {
      // Without the first records nobody knows that the store ran unsynced.
      EXPECT_LT(at, ends_[0]);
    }
  }

  void check_cut(std::size_t at, const Found& found) {
    SCOPED_TRACE("cut at " + std::to_string(at));
    if (!found.steps) {
      EXPECT_LT(at, ends_[0]) << "acknowledged writes are out of reach";
      return;
    }
    EXPECT_EQ(found.steps, steps_before(at));
    EXPECT_EQ(found.gap, 0u);
    // Before the first step the store makes a note of its own.
    if (at >= ends_[1]) {
      EXPECT_EQ(found.dropped, at - ends_[steps_before(at)]);
    }
  }

  const TemporaryFolder parent_{fast_parent()};
  const fs::path path_ = parent_.path() / "store";
  fs::path log_;
  std::string whole_;
  /// Length of the log after each step.
  std::vector<std::size_t> ends_;
};

TEST_P(WalDamage, EveryFlippedByteIsRefusedOrCostsTheLastRecord) {
  std::size_t refused = 0;
  std::size_t opened = 0;
  for (std::size_t at = 0; at < whole_.size(); at += stride()) {
    const auto found = read(flipped(at));
    check_flip(at, found);
    ++(found.steps ? opened : refused);
  }
  EXPECT_EQ(refused + opened, (whole_.size() - 1) / stride() + 1);
  EXPECT_GT(refused, 10u);
  EXPECT_GE(opened, (whole_.size() - ends_[kSteps - 1]) / stride());
  EXPECT_EQ(read(whole_).steps, kSteps);
}

TEST_P(WalDamage, ALogCutAnywhereKeepsTheWholeRecords) {
  std::size_t cuts = 0;
  for (std::size_t at = 0; at < whole_.size(); at += stride(), ++cuts) {
    check_cut(at, read(whole_.substr(0, at)));
  }
  EXPECT_EQ(cuts, (whole_.size() - 1) / stride() + 1);
  EXPECT_GT(cuts, 300u);
}

TEST_P(WalDamage, OpeningForWritingSeesTheSame) {
  std::size_t places = 0;
  for (std::size_t at = 0; at < whole_.size(); at += kWriteStride, ++places) {
    check_flip(at, write(flipped(at)));
    check_cut(at, write(whole_.substr(0, at)));
  }
  EXPECT_GT(places, 90u);
  EXPECT_EQ(write(whole_).steps, kSteps);
}

TEST_P(WalDamage, AMissingLogIsRefused) {
  fs::remove(path_ / log_);
  EXPECT_FALSE(look(path_, true).steps);
  EXPECT_FALSE(look(path_, false).steps);
  EXPECT_TRUE(logs_in(path_).empty()) << "a refused open made a log";
}

INSTANTIATE_TEST_SUITE_P(Durability, WalDamage,
                         testing::Values(Durability::sync, Durability::os),
                         [](const auto& tested) {
                           return tested.param == Durability::sync ? "sync"
                                                                   : "os";
                         });

}  // namespace
}  // namespace satchel::test
