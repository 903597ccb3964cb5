// What expires leaves the disk, what is alive stays on it, whatever the clock
// and the compactions do.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "api/embedded/open.h"
#include "satchel/objects.h"
#include "tests/support/fixture.h"

namespace satchel::test {
namespace {

// Texts to look for on disk share nothing, so that a compressor leaves them
// whole.

/// A store whose disk can be looked at.
class ExpiryTest : public testing::Test {
 protected:
  ExpiryTest() { open(); }

  void open(Options options = {}) {
    options.clock = clock;
    options.sweeper = false;
    options.durability = Durability::os;
    store = embedded::open(folder.path().string(), options).value();
  }
  void reopen() {
    store.reset();
    open();
  }

  std::string mint(const std::string& text, Ttl ttl = {}) {
    return store
        ->mint("note", Json{{"text", text}}, {.user = kUser, .ttl = ttl})
        .value()
        .handle;
  }
  void touch(const std::string& handle, Ttl ttl) {
    store->touch(handle, {.user = kUser, .ttl = ttl}).value();
  }
  bool alive(const std::string& handle) {
    return store->get(handle, {.user = kUser}).ok();
  }
  ErrorCode refusal(const std::string& handle) {
    const auto result = store->get(handle, {.user = kUser});
    return result.ok() ? ErrorCode::internal_error : result.error().code;
  }
  /// Time passes in steps that a clock is believed in.
  void advance(std::chrono::microseconds time) {
    constexpr auto kStep = std::chrono::days(20);
    for (; time > kStep; time -= kStep) {
      clock->advance(kStep);
      store->sweep_all();
    }
    clock->advance(time);
  }
  void compact() { store->database().compact_all(); }
  /// Everything that was reclaimed is gone after this, and nothing else.
  void sweep_and_compact() {
    store->sweep_all();
    compact();
  }
  /// Whether any file of the store holds `text`.
  bool on_disk(const std::string& text) {
    for (const auto& file :
         std::filesystem::directory_iterator(folder.path())) {
      std::stringstream bytes;
      bytes << std::ifstream(file.path(), std::ios::binary).rdbuf();
      if (bytes.str().find(text) != std::string::npos) return true;
    }
    return false;
  }

  TemporaryFolder folder;
  std::shared_ptr<TestClock> clock = std::make_shared<TestClock>();
  std::unique_ptr<embedded::EmbeddedStore> store;
};

TEST_F(ExpiryTest, PayloadOfTheDeadLeavesEveryFile) {
  mint("e9QvXk2LwBz7", 1h);
  const auto revoked = mint("r4TnYc8HsJd1");
  const auto live = mint("L6mGpZu3FoAa", 10h);
  const auto renewed = mint("N0bWxRi5KqEh", 1h);
  const auto forever = mint("F2yVjDt9MlSg");
  store->database().flush();
  for (const auto* text : {"e9QvXk2LwBz7", "r4TnYc8HsJd1", "L6mGpZu3FoAa",
                           "N0bWxRi5KqEh", "F2yVjDt9MlSg"}) {
    ASSERT_TRUE(on_disk(text)) << text;
  }
  touch(renewed, 10h);
  store->revoke(revoked, {.user = kUser}).value();
  clock->advance(2h);
  sweep_and_compact();
  EXPECT_FALSE(on_disk("e9QvXk2LwBz7"));
  EXPECT_FALSE(on_disk("r4TnYc8HsJd1"));
  EXPECT_TRUE(on_disk("L6mGpZu3FoAa"));
  EXPECT_TRUE(on_disk("N0bWxRi5KqEh"));
  EXPECT_TRUE(on_disk("F2yVjDt9MlSg"));
  reopen();
  for (const auto& handle : {live, renewed, forever}) {
    EXPECT_TRUE(alive(handle)) << handle;
  }
}

TEST_F(ExpiryTest, HistoryAndPatchesOfTheDeadLeaveToo) {
  const auto handle = mint("i8CzUf4PaXw3", 1h);
  store->patch(handle, op::set_key("", "more", "P5hQnBk7OeYr"), {.user = kUser})
      .value();
  store
      ->save(handle, Json{{"text", "S1dJvGm6TsLc"}},
             {.user = kUser, .expect_version = 2})
      .value();
  // History that would outlive its handle: kept for ever at first.
  touch(handle, Ttl::persist());
  store
      ->save(handle, Json{{"text", "W3uZxHo0IbRp"}},
             {.user = kUser, .expect_version = 4})
      .value();
  touch(handle, 1h);
  store->database().flush();
  ASSERT_TRUE(on_disk("W3uZxHo0IbRp"));
  clock->advance(2h);
  sweep_and_compact();
  for (const auto* text :
       {"i8CzUf4PaXw3", "P5hQnBk7OeYr", "S1dJvGm6TsLc", "W3uZxHo0IbRp"}) {
    EXPECT_FALSE(on_disk(text)) << text;
  }
  EXPECT_EQ(refusal(handle), ErrorCode::handle_expired);
}

TEST_F(ExpiryTest, TheFilterAloneDropsPayloadPastItsGc) {
  mint("f7KyEaN2tDqV", 1h);
  store->database().flush();
  clock->advance(3h);
  // No sweep of heads: only the cutoff and a compaction.
  store->database().raise_cutoff(
      static_cast<std::uint64_t>(clock->now().time_since_epoch().count()));
  compact();
  EXPECT_FALSE(on_disk("f7KyEaN2tDqV"));
}

TEST_F(ExpiryTest, ARenewalBeyondTheSlackKeepsTheState) {
  const auto handle = mint("KEPT-7Q", 1h);
  store->database().flush();
  clock->advance(59min);
  touch(handle, std::chrono::days(2));
  clock->advance(12h);  // the first base's gc is long past
  sweep_and_compact();
  reopen();
  EXPECT_TRUE(alive(handle));
  EXPECT_EQ(store->get(handle, {.user = kUser})->state->text(),
            R"({"text":"KEPT-7Q"})");
}

TEST_F(ExpiryTest, ARenewalWithinTheSlackKeepsTheState) {
  const auto handle = mint("KEPT-7Q", std::chrono::days(8));
  store->patch(handle, op::set_key("", "n", 1), {.user = kUser}).value();
  clock->advance(std::chrono::days(7));
  touch(handle, 36h);  // 8.5 days; records live until day 9
  store->database().flush();
  clock->advance(35h);
  sweep_and_compact();
  reopen();
  EXPECT_EQ(store->get(handle, {.user = kUser})->state->text(),
            R"({"text":"KEPT-7Q","n":1})");
  clock->advance(1h);
  EXPECT_EQ(refusal(handle), ErrorCode::handle_expired);
}

TEST_F(ExpiryTest, AnExpiredHeadBelowARenewedOneStaysBelow) {
  const auto handle = mint("KEPT-7Q", 1h);
  compact();  // the first head lies at the bottom
  touch(handle, std::chrono::days(300));
  store->database().flush();
  advance(std::chrono::days(100));  // past the old deadline and the horizon
  sweep_and_compact();
  reopen();
  EXPECT_TRUE(alive(handle));
}

TEST_F(ExpiryTest, TombstonesTellTheOwnerForThirtyDays) {
  const auto handle = mint("x", 1h);
  clock->advance(2h);
  sweep_and_compact();
  EXPECT_EQ(refusal(handle), ErrorCode::handle_expired);
  advance(std::chrono::days(29));
  sweep_and_compact();
  EXPECT_EQ(refusal(handle), ErrorCode::handle_expired);
  advance(std::chrono::days(2));
  sweep_and_compact();
  EXPECT_EQ(refusal(handle), ErrorCode::handle_not_found);
}

TEST_F(ExpiryTest, AWrongClockDestroysNothing) {
  const auto handle = mint("KEPT-7Q", std::chrono::days(10));
  const auto right = clock->now();
  store->sweep_all();
  for (const auto wrong :
       {Time{}, right - std::chrono::days(1000), right - 1s,
        right + std::chrono::days(50 * 365), right + std::chrono::days(401),
        right + std::chrono::days(31)}) {
    clock->set(wrong);
    reopen();
    store->sweep_all();
    EXPECT_EQ(store->sweep(kUser, false).value(), 0u);
    compact();
    reopen();
    compact();
    clock->set(right);
    reopen();
    EXPECT_TRUE(alive(handle)) << to_rfc3339(wrong);
  }
}

// Reading an old version gave the state of an older one, or a sound store was
// called damaged: what the filters had taken between two kept segments was not
// missed.
TEST_F(ExpiryTest, HistoryBehindAPurgedSegmentIsGone) {
  const auto handle = mint("first");
  store
      ->save(handle, Json{{"text", "second"}},
             {.user = kUser, .expect_version = 1, .ttl = 1h})
      .value();
  store
      ->save(handle, Json{{"text", "third"}},
             {.user = kUser, .expect_version = 2, .ttl = Ttl::persist()})
      .value();
  clock->advance(2h);
  store->sweep_all();  // the cutoff passes the second version's records
  for (int round = 0; round < 2; ++round) {
    for (const auto version : {1u, 2u}) {
      const auto old = store->get(handle, {.user = kUser, .version = version});
      ASSERT_FALSE(old.ok());
      EXPECT_EQ(old.error().code, ErrorCode::version_gone);
      EXPECT_EQ(old.error().details["oldest"], 3);
    }
    EXPECT_EQ(store->history(handle, kUser).value().oldest, 3u);
    EXPECT_EQ(store->changes_since(handle, 0, kUser).value().kind,
              Changes::Kind::too_old);
    EXPECT_EQ(store->get(handle, {.user = kUser})->state->text(),
              R"({"text":"third"})");
    sweep_and_compact();
  }
}

/// Leaps fifty years ahead once it was asked a few times.
class LeapingClock : public TestClock {
 public:
  Time now() const override {
    const auto leap = std::chrono::days(50 * 365);
    return TestClock::now() + (armed && ++asked > 3 ? leap : leap * 0);
  }
  std::atomic<bool> armed{false};
  mutable std::atomic<int> asked{0};
};

// A sweep believed its clock at the start and then asked it for each handle.
TEST_F(ExpiryTest, AClockThatLeapsDuringASweepDestroysNothing) {
  store.reset();
  const auto leaping = std::make_shared<LeapingClock>();
  clock = leaping;
  open();
  const auto handle = mint("KEPT", std::chrono::days(7));
  leaping->armed = true;
  store->sweep_all();
  leaping->asked = 0;
  EXPECT_EQ(store->sweep(kUser, false).value(), 0u);
  leaping->armed = false;
  EXPECT_TRUE(alive(handle));
}

/// The newest text and deadline that were acknowledged of each handle.
struct Known {
  std::string text;
  Time deadline;
};

/// Random renewals, patches and saves while another thread sweeps and compacts
/// and the clock runs on, with jumps back.
class Soak {
 public:
  Soak(embedded::EmbeddedStore& store, TestClock& clock, std::uint64_t seed)
      : store_(store), clock_(clock), random_(seed), latest_(clock.now()) {}

  void run(int steps) {
    std::thread compactor([this] {
      while (!done_) {
        store_.sweep_all();
        store_.database().compact_all();
        ++compactions_;
      }
    });
    for (int i = 0; i < steps || compactions_ < 5; ++i) step();
    done_ = true;
    compactor.join();
    const auto all = known_;
    for (const auto& [handle, known] : all) check(handle, known);
  }

  int lost() const { return lost_; }
  int compactions() const { return compactions_; }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  Ttl some_ttl() { return std::chrono::minutes(20 + below(200)); }

  void step() {
    const auto dice = below(100);
    if (dice < 20) {
      // Mostly forward; back by less than the grace now and then.
      clock_.advance(std::chrono::seconds(30 + below(200)));
      latest_ = std::max(latest_, clock_.now());
      if (dice == 0) clock_.step(-std::chrono::minutes(below(9)));
    } else if (known_.size() < 60) {
      const auto text = "t" + std::to_string(random_());
      learn(store_.mint("note", Json{{"x", text}},
                        {.user = kUser, .ttl = some_ttl()}),
            text);
    } else {
      change(dice);
    }
  }

  void change(std::uint64_t dice) {
    auto it = known_.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(below(known_.size())));
    const auto [handle, known] = *it;
    if (dice < 60) {
      learn(store_.touch(handle, {.user = kUser, .ttl = some_ttl()}),
            known.text, handle);
    } else if (dice < 80) {
      const auto text = "p" + std::to_string(random_());
      learn(store_.patch(handle, op::set_key("", "x", text), {.user = kUser}),
            text, handle);
    } else {
      check(handle, known);
    }
  }

  void learn(const Result<Snapshot>& result, const std::string& text,
             const std::string& handle = {}) {
    if (result.ok()) {
      known_[result->handle] = {text, *result->expires_at};
    } else {
      refused(handle, known_[handle], result.error());
    }
  }

  void check(const std::string& handle, const Known& known) {
    const auto result = store_.get(handle, {.user = kUser});
    if (!result.ok()) return refused(handle, known, result.error());
    if (result->state->json()["x"] != known.text) ++lost_;
  }

  /// Only the end of its time may take a handle away.
  void refused(const std::string& handle, const Known& known,
               const Error& error) {
    const bool ended =
        error.code == ErrorCode::handle_expired && latest_ >= known.deadline;
    if (!ended) {
      ++lost_;
      ADD_FAILURE() << handle << ": " << error.to_payload();
    }
    known_.erase(handle);
  }

  embedded::EmbeddedStore& store_;
  TestClock& clock_;
  std::mt19937_64 random_;
  std::map<std::string, Known> known_;
  std::atomic<bool> done_{false};
  std::atomic<int> compactions_{0};
  int lost_ = 0;
  /// The latest time that any call can have gone by.
  Time latest_;
};

TEST_F(ExpiryTest, SoakLosesNothing) {
  const char* given = std::getenv("SATCHEL_SEED");
  const auto seed = given != nullptr ? std::strtoull(given, nullptr, 10)
                                     : std::random_device()();
  SCOPED_TRACE("SATCHEL_SEED=" + std::to_string(seed));
  // A cache would hide what the disk has lost.
  Options uncached;
  uncached.cache_bytes = 0;
  store.reset();
  open(uncached);
  Soak soak(*store, *clock, seed);
  soak.run(20'000);
  EXPECT_EQ(soak.lost(), 0);
  EXPECT_GE(soak.compactions(), 5);
}

}  // namespace
}  // namespace satchel::test
