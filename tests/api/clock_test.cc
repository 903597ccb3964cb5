// A clock that cannot be trusted. Reads go by it; nothing is destroyed by it.
// What broke elsewhere: a clock set to 2055 for an hour took every state that
// had a deadline; one set to 1970 made deadlines that never came.

#include "tests/support/fixture.h"

namespace satchel::test {

namespace {

Time at(std::chrono::year_month_day day) {
  return Time(std::chrono::sys_days(day));
}
using std::chrono::January;

class ClockTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    before_ = clock->now();
    short_ = mint(R"({"ttl":"1h"})"_j, {.ttl = 1h}).handle;
    long_ = mint(R"({"ttl":"300d"})"_j, {.ttl = days(300)}).handle;
    never_ = mint(R"({"ttl":"never"})"_j).handle;
  }

  /// The clock says `t`; every user who asks for a sweep gets nothing removed,
  /// and the listener hears why.
  void sweep_is_refused_at(Time t) {
    clock->set(t);
    const std::size_t heard = listener->clock_refusals().size();
    EXPECT_EQ(sweep(), 0u);
    EXPECT_GT(listener->clock_refusals().size(), heard);
    if (listener->clock_refusals().empty()) return;
    EXPECT_FALSE(listener->clock_refusals().back().empty());
  }

  void everything_is_there() {
    EXPECT_EQ(text(short_), R"({"ttl":"1h"})");
    EXPECT_EQ(text(long_), R"({"ttl":"300d"})");
    EXPECT_EQ(text(never_), R"({"ttl":"never"})");
    EXPECT_EQ(list().size(), 3u);
  }

  Time before_;
  std::string short_, long_, never_;
};

TEST_F(ClockTest, SetBackItKeepsVersionsAndOrder) {
  advance(2h);
  expect_error(store().get(short_, {.user = kUser}), ErrorCode::handle_expired);
  clock->step(-90min);
  // Not swept in between: the clock decides, and it says the time is not over.
  EXPECT_EQ(text(short_), R"({"ttl":"1h"})");
  const auto p = patch(never_, op::set_key("", "k", 1));
  EXPECT_EQ(p.version, 2u);
  EXPECT_GT(p.updated_at, before_);
  EXPECT_EQ(list()[0].handle, never_);
  reopen();
  EXPECT_EQ(patch(never_, op::set_key("", "k", 2)).version, 3u);
}

TEST_F(ClockTest, ASweptHandleDoesNotComeBackWhenTheClockFalls) {
  advance(2h);
  EXPECT_EQ(sweep(), 1u);
  clock->step(-90min);
  for (int i = 0; i < 2; ++i) {
    expect_error(store().get(short_, {.user = kUser}),
                 ErrorCode::handle_expired);
    EXPECT_EQ(list({.include_expired = true}).size(), 2u);
    reopen();
  }
}

TEST_F(ClockTest, SetToZeroItDestroysNothing) {
  sweep_is_refused_at(Time{});
  everything_is_there();
  reopen();
  everything_is_there();
  sweep_is_refused_at(Time{} + 1us);
  clock->set(before_ + 1min);
  everything_is_there();
}

TEST_F(ClockTest, FiftyYearsAheadItDestroysNothing) {
  const Time ahead =
      at({std::chrono::year(2076), January, std::chrono::day(1)});
  sweep_is_refused_at(ahead);
  reopen();
  sweep_is_refused_at(ahead + 10min);
  // Long past the horizon it reads as never there; but it is not gone.
  EXPECT_FALSE(store().get(long_, {.user = kUser}).ok());
  EXPECT_EQ(text(never_), R"({"ttl":"never"})");
  EXPECT_EQ(list({.include_expired = true}).size(), 3u);
  clock->set(before_ + 1min);
  reopen();
  everything_is_there();
}

TEST_F(ClockTest, OutOfTheBelievableCenturiesItDestroysNothing) {
  for (const int year : {1601, 1969, 1970, 2019, 2201, 9999, 60'000}) {
    sweep_is_refused_at(
        Time(std::chrono::sys_days(std::chrono::year(2000) / January / 1) +
             days((year - 2000) * 365LL)));
    reopen();
  }
  clock->set(before_ + 1min);
  everything_is_there();
}

TEST_F(ClockTest, MoreThanFourHundredDaysAheadIsNotBelieved) {
  sweep_is_refused_at(before_ + days(401));
  clock->set(before_ + 1min);
  everything_is_there();
}

TEST_F(ClockTest, ALeapIsBelievedAnHourLater) {
  clock->set(before_ + days(40));
  EXPECT_EQ(sweep(), 0u);
  advance(59min);
  EXPECT_EQ(sweep(), 0u);
  advance(2min);
  EXPECT_EQ(sweep(), 1u);
  EXPECT_EQ(text(long_), R"({"ttl":"300d"})");
}

TEST_F(ClockTest, AcceptClockEndsTheRefusal) {
  const Time ahead = before_ + days(500);
  sweep_is_refused_at(ahead);
  EXPECT_EQ(sweep(kUser, true), 2u);
  EXPECT_EQ(list({.include_expired = true}).size(), 1u);
  // From now on that is the time.
  const auto s = mint("{}"_j, {.ttl = 1h});
  advance(2h);
  reopen();
  EXPECT_EQ(sweep(), 1u);
  expect_error(store().get(s.handle, {.user = kUser}),
               ErrorCode::handle_expired);
  EXPECT_EQ(text(never_), R"({"ttl":"never"})");
}

TEST_F(ClockTest, AClockThatRunsIsBelieved) {
  for (int i = 0; i < 20; ++i) {
    advance(days(20));
    sweep();
    if (i % 5 == 0) reopen();
  }
  EXPECT_TRUE(listener->clock_refusals().empty());
  EXPECT_FALSE(store().get(long_, {.user = kUser}).ok());
  EXPECT_EQ(list({.include_expired = true}).size(), 1u);
}

TEST_F(ClockTest, NewDeadlinesOfAFallenClockAreNotInThePast) {
  clock->set(before_ - 30min);
  const auto s = mint("{}"_j, {.ttl = 1h});
  EXPECT_GT(*s.expires_at, clock->now());
  EXPECT_EQ(text(s.handle), "{}");
  clock->set(before_);
  EXPECT_EQ(text(s.handle), "{}");
}

TEST_F(ClockTest, VersionsComeFromTheStoreNotFromTheClock) {
  std::uint64_t version = 1;
  Time last = before_;
  for (const auto move : {1h, -5h, 0h, -2000h, 3000h, -1h}) {
    clock->step(move);
    const auto p = patch(never_, op::set_key("", "v", version));
    EXPECT_EQ(p.version, ++version);
    EXPECT_GT(p.updated_at, last);
    last = p.updated_at;
    reopen();
  }
  EXPECT_EQ(history(never_).versions.size(), 7u);
}

}  // namespace

}  // namespace satchel::test
