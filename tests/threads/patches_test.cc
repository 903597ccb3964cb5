// Writers that meet on one handle: all are served, none is merged or lost.
// There are no clocks in here: what must not take long is bounded by
// Options::contention_time, after which a call is refused.

#include <map>

#include "tests/support/fixture.h"
#include "tests/threads/threads.h"

namespace satchel::test {

namespace {

class ThreadsTest : public StoreTest {
 protected:
  void SetUp() override {
    // What is tested is the meeting of threads; a synced log adds only time.
    options.durability = Durability::os;
    options.contention_time = 60s;
    open();
  }
};

TEST_F(ThreadsTest, AllPatchesOfAllThreadsLand) {
  const auto s = mint(R"({"n":0,"l":[]})"_j);
  std::mutex mutex;
  std::multiset<std::uint64_t> versions = {1};
  in_threads(8, [&](int t) {
    for (int i = 0; i < 20; ++i) {
      const auto p = patch(s.handle,
                           Json::array({op::increment("", "n", 1),
                                        op::append("l", t * 100 + i)}),
                           {.writer = "t" + std::to_string(t)});
      std::lock_guard lock(mutex);
      versions.insert(p.version);
    }
  });
  ASSERT_EQ(versions.size(), 161u);
  std::uint64_t expected = 1;
  for (std::uint64_t v : versions) EXPECT_EQ(v, expected++);
  const Json state = get(s.handle).state->json();
  EXPECT_EQ(state["n"], 160);
  EXPECT_EQ(std::set<Json>(state["l"].begin(), state["l"].end()).size(), 160u);
  // Each thread's own patches are in the order that it made them.
  std::map<int, int> last;
  for (const Json& item : state["l"]) {
    const int t = item.get<int>() / 100, i = item.get<int>() % 100;
    EXPECT_EQ(i, last[t]++);
  }
}

TEST_F(ThreadsTest, OfSaversWithOneVersionOneWins) {
  for (int round = 1; round <= 10; ++round) {
    const auto s = mint(R"({"winner":-1})"_j);
    std::atomic<int> winner = -1, winners = 0;
    std::vector<Json> told(8);
    in_threads(8, [&](int t) {
      const auto r = store().save(
          s.handle, Json{{"winner", t}},
          {.user = kUser, .expect_version = 1, .writer = std::to_string(t)});
      if (r.ok()) {
        winner = t;
        ++winners;
      } else {
        EXPECT_EQ(name(r.error().code), name(ErrorCode::stale_write));
        told[std::size_t(t)] = r.error().details.value("current", Json());
      }
    });
    ASSERT_EQ(winners, 1);
    EXPECT_EQ(get(s.handle).version, 2u);
    for (int t = 0; t < 8; ++t) {
      if (t == winner) continue;
      EXPECT_EQ(told[std::size_t(t)]["state"]["winner"], winner.load());
      EXPECT_EQ(told[std::size_t(t)]["version"], 2);
      EXPECT_EQ(told[std::size_t(t)]["last_writer"], std::to_string(winner));
    }
  }
}

TEST_F(ThreadsTest, AHotHandleServesAllWhileOthersWriteElsewhere) {
  close();
  options.contention_time = std::chrono::milliseconds(5'000);
  open();
  const auto hot = mint(R"({"n":0})"_j);
  in_threads(20, [&](int t) {
    if (t < 16) {
      for (int i = 0; i < 25; ++i) patch(hot.handle, op::increment("", "n", 1));
      return;
    }
    const auto own = mint(R"({"n":0})"_j, {.user = "u" + std::to_string(t)});
    for (int i = 0; i < 25; ++i)
      patch(own.handle, op::increment("", "n", 1),
            {.user = "u" + std::to_string(t)});
  });
  EXPECT_EQ(get(hot.handle).state->json()["n"], 400);
  EXPECT_EQ(get(hot.handle).version, 401u);
}

TEST_F(ThreadsTest, EveryRefusedWriteOfABatchFailsAlone) {
  const auto s = mint(R"({"n":0,"o":{}})"_j);
  std::atomic<int> refused = 0;
  in_threads(12, [&](int t) {
    for (int i = 0; i < 20; ++i) {
      if (t % 3 == 0) {
        expect_error(store().patch(s.handle,
                                   Json::array({op::increment("", "n", 1000),
                                                op::append("o", 1)}),
                                   {.user = kUser}),
                     ErrorCode::patch_error);
        ++refused;
      } else if (t % 3 == 1) {
        expect_error(store().save(s.handle, "{}"_j,
                                  {.user = kUser, .expect_version = 100'000}),
                     ErrorCode::stale_write);
        ++refused;
      } else {
        patch(s.handle, op::increment("", "n", 1));
      }
    }
  });
  EXPECT_EQ(refused, 160);
  EXPECT_EQ(text(s.handle), R"({"n":80,"o":{}})");
  EXPECT_EQ(get(s.handle).version, 81u);
}

TEST_F(ThreadsTest, MixedWritesOfOneHandleEachGetTheirVersion) {
  const auto s = mint(R"({"n":0})"_j);
  std::mutex mutex;
  std::map<std::uint64_t, Change> made;
  const auto note = [&](const Result<Snapshot>& r, Change what) {
    if (!r.ok()) {
      EXPECT_EQ(name(r.error().code), name(ErrorCode::stale_write));
      return;
    }
    std::lock_guard lock(mutex);
    EXPECT_TRUE(made.emplace(r->version, what).second) << r->version;
  };
  in_threads(8, [&](int t) {
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t now = get(s.handle).version;
      if (t % 4 == 0)
        note(store().save(s.handle, Json{{"n", 0}},
                          {.user = kUser, .expect_version = now}),
             Change::save);
      if (t % 4 == 1)
        note(store().touch(s.handle, {.user = kUser, .ttl = days(1 + i)}),
             Change::touch);
      if (t % 4 == 2)
        note(store().revert(s.handle, now, {.user = kUser}), Change::revert);
      if (t % 4 == 3)
        note(
            store().patch(s.handle, op::increment("", "n", 1), {.user = kUser}),
            Change::patch);
    }
  });
  const History h = history(s.handle);
  ASSERT_EQ(h.versions[0].version, made.size() + 1);
  for (const VersionInfo& v : h.versions) {
    if (v.version == 1) continue;
    ASSERT_TRUE(made.contains(v.version));
    EXPECT_EQ(v.what, made[v.version]) << v.version;
  }
}

TEST_F(ThreadsTest, ARevokeEndsAllWritersCleanly) {
  const auto s = mint(R"({"n":0})"_j);
  std::atomic<int> ended = 0;
  in_threads(8, [&](int t) {
    if (t == 0) {
      while (get(s.handle).version < 20) std::this_thread::yield();
      revoke(s.handle);
      return;
    }
    for (;;) {
      const auto r =
          store().patch(s.handle, op::increment("", "n", 1), {.user = kUser});
      if (r.ok()) continue;
      EXPECT_EQ(name(r.error().code), name(ErrorCode::handle_not_found));
      ++ended;
      return;
    }
  });
  EXPECT_EQ(ended, 7);
  EXPECT_TRUE(list({.include_expired = true}).empty());
}

}  // namespace

}  // namespace satchel::test
