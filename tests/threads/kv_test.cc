// Many threads on key-value scopes: limits, counters, conditions and pages.

#include <algorithm>
#include <barrier>
#include <random>
#include <thread>

#include "tests/support/fixture.h"
#include "tests/threads/threads.h"

namespace satchel::test {
namespace {

constexpr int kThreads = 16;

std::string key_of(int thread) { return "t" + std::to_string(10 + thread); }

/// A JSON string so that it and its key of key_of() take `bytes`.
KvValue value_for(std::size_t bytes) {
  return KvValue(std::string(bytes - 5, 'v'));
}

class KvThreadsTest : public StoreTest {
 protected:
  void SetUp() override {
    options.durability = Durability::os;
    options.contention_time = 60s;
    options.kv_max_scope_bytes = 1000;
    open();
  }
  void open_without_memory() {
    options.index_bytes = 0;
    reopen();
  }

  /// 16 threads set `each` bytes when only `room` are left: how many won.
  int race(const std::string& app, std::size_t room, std::size_t each) {
    const auto scope = kv(app);
    scope->set("full", std::string(1000 - room - 6, 'f'), {.ttl = 1h}).value();
    std::atomic<int> won = 0;
    in_threads(kThreads, [&](int t) {
      const auto set = scope->set(key_of(t), value_for(each), {.ttl = 1h});
      won += set.ok();
      if (!set.ok()) {
        expect_kv_error(set, ErrorCode::quota_exceeded, "QUOTA_EXCEEDED");
      }
    });
    const auto usage = scope->usage().value();
    EXPECT_EQ(usage.key_count, 1u + static_cast<unsigned>(won));
    EXPECT_EQ(usage.used_bytes,
              1000 - room + each * static_cast<unsigned>(won));
    return won;
  }
};

TEST_F(KvThreadsTest, OfThoseThatRaceForTheLastBytesExactlyTheFittingWin) {
  for (int round = 0; round < 10; ++round) {
    const auto app = "app" + std::to_string(round);
    EXPECT_EQ(race(app + "-one", 100, 90), 1);
    EXPECT_EQ(race(app + "-none", 89, 90), 0);
    EXPECT_EQ(race(app + "-five", 250, 50), 5);
    EXPECT_EQ(race(app + "-all", 160, 10), 16);
    EXPECT_EQ(race(app + "-but-one", 159, 10), 15);
  }
}

TEST_F(KvThreadsTest, TheRaceIsExactWhenNothingStaysInMemory) {
  open_without_memory();
  for (int round = 0; round < 5; ++round) {
    const auto app = "app" + std::to_string(round);
    EXPECT_EQ(race(app + "-one", 100, 90), 1);
    EXPECT_EQ(race(app + "-five", 250, 50), 5);
  }
}

TEST_F(KvThreadsTest, OverwritesAndRemovalsKeepTheLimit) {
  const auto scope = kv();
  std::atomic<bool> done = false;
  std::thread watcher([&] {
    do EXPECT_LE(scope->usage().value().used_bytes, 1000u);
    while (!done);
  });
  std::vector<std::optional<std::size_t>> sizes(kThreads);
  std::atomic<int> refused = 0;
  in_threads(kThreads, [&](int t) {
    std::mt19937_64 random(static_cast<unsigned>(t));
    auto& mine = sizes[static_cast<std::size_t>(t)];
    for (int i = 0; i < 300; ++i) {
      if (random() % 5 == 0) {
        EXPECT_EQ(scope->remove(key_of(t)).value(), mine.has_value());
        mine.reset();
        continue;
      }
      const auto size = 5 + random() % 150;
      const auto set = scope->set(key_of(t), value_for(size), {.ttl = 1h});
      if (set.ok()) {
        mine = size;
      } else {
        EXPECT_GT(size, mine.value_or(0)) << "a smaller value was refused";
        expect_kv_error(set, ErrorCode::quota_exceeded, "QUOTA_EXCEEDED");
        ++refused;
      }
    }
  });
  done = true;
  watcher.join();
  EXPECT_GT(refused, 0);
  std::size_t sum = 0;
  for (int t = 0; t < kThreads; ++t) {
    const auto& mine = sizes[static_cast<std::size_t>(t)];
    const auto entry = scope->get(key_of(t)).value();
    ASSERT_EQ(entry.has_value(), mine.has_value());
    if (!entry) continue;
    EXPECT_EQ(key_of(t).size() + entry->value.size_bytes(), *mine);
    sum += *mine;
  }
  EXPECT_EQ(used_bytes(), sum);
}

TEST_F(KvThreadsTest, EveryIncrementReturnsItsOwnValue) {
  constexpr int kEach = 200;
  const auto scope = kv();
  std::vector<std::vector<std::int64_t>> returned(kThreads);
  in_threads(kThreads, [&](int t) {
    auto& mine = returned[static_cast<std::size_t>(t)];
    for (int i = 0; i < kEach; ++i)
      mine.push_back(scope->increment("hot", {.ttl = 1h}).value());
  });
  std::vector<std::int64_t> all;
  for (const auto& mine : returned) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), std::size_t{kThreads * kEach});
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], static_cast<std::int64_t>(i + 1));
  EXPECT_EQ(value_of("hot"), std::to_string(kThreads * kEach));
}

TEST_F(KvThreadsTest, StepsUpAndDownAddUp) {
  const auto scope = kv();
  std::atomic<std::int64_t> sum = 0;
  in_threads(kThreads, [&](int t) {
    std::mt19937_64 random(static_cast<unsigned>(t));
    for (int i = 0; i < 100; ++i) {
      const auto by = static_cast<std::int64_t>(random() % 1000) - 500;
      const auto* key = i % 2 == 0 ? "a" : "b";
      if (t % 2 == 0)
        sum += scope->increment(key, {.by = by, .ttl = 1h}).ok() ? by : 0;
      else
        sum -= scope->decrement(key, {.by = by, .ttl = 1h}).ok() ? by : 0;
    }
  });
  EXPECT_EQ(add("a", 0) + add("b", 0), sum);
}

TEST_F(KvThreadsTest, IfAbsentHasOneWinner) {
  constexpr int kRounds = 100;
  // These keep the scope busy, so that those who race are served together.
  constexpr int kOthers = 4;
  const auto scope = kv();
  std::vector<std::atomic<int>> winners(kRounds);
  std::barrier round(kThreads - kOthers);
  std::atomic<bool> done = false;
  in_threads(kThreads, [&](int t) {
    for (int i = 0; t < kOthers && !done; ++i)
      scope->set("other", i, {.ttl = 1h}).value();
    for (int i = 0; t >= kOthers && i < kRounds; ++i) {
      round.arrive_and_wait();
      const auto key = "m" + std::to_string(i);
      const auto set = scope->set(key, t, {.ttl = 1h, .if_absent = true});
      if (set.ok()) {
        ++winners[static_cast<std::size_t>(i)];
        EXPECT_EQ(scope->get(key).value().value().value.json(), t);
      } else {
        expect_kv_error(set, ErrorCode::condition_failed, "");
      }
    }
    done = done || t >= kOthers;
  });
  for (const auto& count : winners) EXPECT_EQ(count, 1);
}

TEST_F(KvThreadsTest, ARemovedKeyIsWonAgainOnceForEveryRemoval) {
  const auto scope = kv();
  std::atomic<int> set = 0, removed = 0;
  in_threads(kThreads, [&](int t) {
    for (int i = 0; i < 200; ++i) {
      if ((t + i) % 2 == 0)
        set += scope->set("lock", t, {.ttl = 1h, .if_absent = true}).ok();
      else
        removed += scope->remove("lock").value();
    }
  });
  EXPECT_GT(removed, 0);
  EXPECT_EQ(set - removed, scope->has("lock").value() ? 1 : 0);
}

TEST_F(KvThreadsTest, ExpectValueLosesNoUpdate) {
  constexpr int kEach = 40;
  const auto scope = kv();
  put("n", 0);
  in_threads(kThreads, [&](int) {
    for (int i = 0; i < kEach;) {
      const auto was = scope->get("n").value().value().value;
      const auto next = was.json().get<int>() + 1;
      i +=
          scope->set("n", next, {.ttl = 1h, .expect_value = KvValue(was)}).ok();
    }
  });
  EXPECT_EQ(value_of("n"), std::to_string(kThreads * kEach));
}

TEST_F(KvThreadsTest, RemovalsByPrefixCountEachKeyOnce) {
  options.kv_max_scope_bytes = 1 << 20;
  reopen();
  const auto scope = kv();
  std::atomic<std::uint64_t> set = 0, removed = 0;
  in_threads(kThreads, [&](int t) {
    for (int i = 0; i < 60; ++i) {
      const auto key = "p:" + key_of(t) + ':' + std::to_string(i);
      set += scope->set(key, i, {.ttl = 1h}).ok();
      if (i % 7 == t % 7) removed += scope->remove_prefix("p:").value();
      if (i % 11 == t % 11)
        removed += scope->remove_prefix("p:" + key_of(t)).value();
      if (i % 5 == 0) removed += scope->remove(key).value();
    }
  });
  EXPECT_EQ(set, 16u * 60u);
  EXPECT_EQ(set - removed, scope->usage().value().key_count);
}

/// Reads all pages, `limit` keys each.
std::multiset<std::string> pages(KvScope& scope, std::uint32_t limit) {
  std::multiset<std::string> seen;
  KvKeysOptions next{.limit = limit};
  std::string last;
  do {
    const auto page = scope.keys(next).value();
    for (const auto& key : page.keys) {
      EXPECT_LT(last, key.key) << "not in the order of bytes";
      last = key.key;
      seen.insert(key.key);
    }
    next.cursor = page.cursor;
  } while (!next.cursor.empty());
  return seen;
}

TEST_F(KvThreadsTest, PagesHoldEachUntouchedKeyOnceWhileOthersComeAndGo) {
  for (const std::size_t memory : {std::size_t{64} << 20, std::size_t{0}}) {
    options.kv_max_scope_bytes = 1 << 20;
    options.index_bytes = memory;
    reopen();
    std::set<std::string> untouched;
    for (int i = 100; i < 200; ++i) {
      untouched.insert("k" + std::to_string(i) + "u");
      put("k" + std::to_string(i) + "u", i);
    }
    std::atomic<int> read = 0;
    in_threads(8, [&](int t) {
      std::mt19937_64 random(static_cast<unsigned>(t));
      const auto scope = kv();
      for (int i = 0; t >= 3 && (i < 100 || read < 9); ++i) {
        const auto key =
            "k" + std::to_string(100 + random() % 100) + "-z"[i % 2];
        if (random() % 3 == 0)
          scope->remove(key).value();
        else if (random() % 20 == 0)
          scope->remove_prefix(key).value();
        else
          scope->set(key, i, {.ttl = random() % 2 ? Ttl(1h) : Ttl(1ms)})
              .value();
        if (i % 20 == 0) advance(1ms);
      }
      for (int i = 0; t < 3 && i < 10; ++i, ++read) {
        const auto seen = pages(*scope, 7);
        for (const auto& key : untouched) EXPECT_EQ(seen.count(key), 1u) << key;
      }
    });
  }
}

// Pages and usage showed half of a removal.
TEST_F(KvThreadsTest, NobodySeesHalfOfARemoval) {
  constexpr std::size_t kKeys = 20;
  const auto scope = kv();
  for (int round = 0; round < 40; ++round) {
    for (std::size_t i = 0; i < kKeys; ++i) put("p:" + std::to_string(i), 1);
    std::atomic<bool> done = false;
    in_threads(5, [&](int t) {
      if (t == 0) {
        EXPECT_EQ(scope->remove_prefix("p:").value(), kKeys);
        done = true;
      }
      while (!done) {
        const auto keys = scope->keys().value().keys.size();
        EXPECT_TRUE(keys == kKeys || keys == 0) << keys;
        const auto count = scope->usage().value().key_count;
        EXPECT_TRUE(count == kKeys || count == 0) << count;
      }
    });
  }
}

TEST_F(KvThreadsTest, ReadersSeeWhatWasAcknowledgedBefore) {
  const auto scope = kv();
  std::atomic<std::int64_t> acknowledged = 0;
  std::atomic<bool> done = false;
  in_threads(6, [&](int t) {
    if (t == 0) {
      for (int i = 0; i < 500; ++i)
        acknowledged = scope->increment("n", {.ttl = 1h}).value();
      done = true;
      return;
    }
    while (!done) {
      const std::int64_t least = acknowledged;
      if (least == 0) continue;
      const auto entries = scope->mget({"n"}).value();
      ASSERT_EQ(entries.size(), 1u);
      EXPECT_GE(entries.at("n").value.json().get<std::int64_t>(), least);
      EXPECT_GE(scope->get("n").value().value().value.json(), least);
      EXPECT_EQ(scope->usage().value().key_count, 1u);
    }
  });
  EXPECT_EQ(acknowledged, 500);
}

TEST_F(KvThreadsTest, EveryCallDuringACloseFinishesOrIsRefused) {
  const auto scope = kv();
  std::atomic<int> applied = 0;
  std::thread closer([&] {
    while (applied < 50) std::this_thread::yield();
    EXPECT_TRUE(store().close().ok());
  });
  in_threads(6, [&](int t) {
    for (bool over = false; !over;) {
      if (t % 2 == 0) {
        const auto r = scope->increment("n", {.ttl = 1h});
        over = !r.ok();
        applied += r.ok();
        if (over) expect_kv_error(r, ErrorCode::store_closed, "");
      } else {
        const auto r = scope->usage();
        over = !r.ok();
        if (over) expect_kv_error(r, ErrorCode::store_closed, "");
      }
    }
  });
  closer.join();
  close();
  open();
  EXPECT_EQ(value_of("n"), std::to_string(applied));
}

}  // namespace
}  // namespace satchel::test
