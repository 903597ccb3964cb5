// Readers, listers and sweepers beside writers; the end of a store in use.

#include <future>
#include <thread>

#include "satchel/async.h"
#include "tests/support/fixture.h"

namespace satchel::test {

namespace {

class ReadersTest : public StoreTest {
 protected:
  void SetUp() override {
    options.durability = Durability::os;
    options.contention_time = 60s;
    open();
  }
  /// Runs `body` in `n` threads until `work` of this thread is done.
  template <class F, class W>
  void beside(int n, F body, W work) {
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (int t = 0; t < n; ++t)
      threads.emplace_back([&] {
        do body();
        while (!stop);
      });
    work();
    stop = true;
    for (auto& t : threads) t.join();
  }
};

TEST_F(ReadersTest, EveryReadSeesAWholeStateAndVersionsRise) {
  const auto s = mint(R"({"a":1,"b":1,"l":[]})"_j);
  std::atomic<std::uint64_t> reads = 0;
  thread_local std::uint64_t last;
  beside(
      4,
      [&] {
        const Snapshot g = get(s.handle);
        const Json& state = g.state->json();
        EXPECT_EQ(state["a"], g.version);
        EXPECT_EQ(state["b"], g.version);
        EXPECT_EQ(state["l"].size(), g.version - 1);
        EXPECT_GE(g.version, last);
        last = g.version;
        ++reads;
      },
      [&] {
        for (int v = 2; v <= 300; ++v)
          patch(s.handle,
                Json::array({op::set_key("", "a", v), op::append("l", v),
                             op::set_key("", "b", v)}));
      });
  EXPECT_GT(reads, 0u);
  EXPECT_EQ(get(s.handle).version, 300u);
}

TEST_F(ReadersTest, ADocumentInAReadersHandStaysAsItWas) {
  const auto s = mint(R"({"l":[]})"_j);
  beside(
      4,
      [&] {
        const Snapshot g = get(s.handle);
        const std::string text = g.state->text();
        std::this_thread::yield();
        EXPECT_EQ(g.state->text(), text);
        EXPECT_EQ(g.state->json().dump(), text);
      },
      [&] {
        for (int i = 0; i < 300; ++i) patch(s.handle, op::append("l", i));
      });
}

TEST_F(ReadersTest, OldVersionsAndHistoryReadWhileWriting) {
  const auto s = mint(R"({"n":1})"_j);
  beside(
      3,
      [&] {
        const History h = history(s.handle);
        const std::uint64_t v = h.versions[h.versions.size() / 2].version;
        const auto g = store().get(s.handle, {.user = kUser, .version = v});
        if (g.ok())
          EXPECT_EQ(g->state->json()["n"], v);
        else
          expect_error(g, ErrorCode::version_gone);
        const auto c = store().changes_since(s.handle, v, kUser);
        ASSERT_TRUE(c.ok()) << c.error().message;
        EXPECT_GE(c->version, v);
      },
      [&] {
        for (std::uint64_t v = 1; v < 200; ++v) {
          if (v % 20 == 0)
            save(s.handle, Json{{"n", v + 1}}, v);
          else
            patch(s.handle, op::increment("", "n", 1));
        }
      });
  EXPECT_EQ(text(s.handle), R"({"n":200})");
}

TEST_F(ReadersTest, ListsHoldWhatIsNotWrittenTo) {
  std::set<std::string> still;
  for (int i = 0; i < 50; ++i) still.insert(mint("{}"_j).handle);
  std::vector<std::string> busy;
  for (int i = 0; i < 10; ++i) busy.push_back(mint("{}"_j).handle);
  beside(
      3,
      [&] {
        std::multiset<std::string> seen;
        for (const auto& info : list({.limit = 7})) seen.insert(info.handle);
        for (const auto& h : still) EXPECT_EQ(seen.count(h), 1u);
      },
      [&] {
        for (int i = 0; i < 100; ++i) {
          advance(1ms);
          patch(busy[std::size_t(i % 10)], op::set_key("", "k", i));
          if (i % 10 == 5) revoke(mint("{}"_j).handle);
        }
      });
  EXPECT_EQ(list().size(), 60u);
}

TEST_F(ReadersTest, SweepsAndRenewalsNeverLoseALiveHandle) {
  std::vector<std::string> handles;
  for (int i = 0; i < 8; ++i)
    handles.push_back(mint(Json{{"i", i}}, {.ttl = 1h}).handle);
  beside(
      2, [&] { store().sweep(kUser).value(); },
      [&] {
        for (int round = 0; round < 50; ++round) {
          advance(30min);
          for (const auto& h : handles) touch(h, 1h);
          mint("{}"_j, {.ttl = 1min});
        }
      });
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(get(handles[std::size_t(i)]).state->json()["i"], i);
}

TEST_F(ReadersTest, EveryCallDuringACloseFinishesOrIsRefused) {
  const auto s = mint(R"({"n":0})"_j);
  std::atomic<int> applied = 0, calls = 0;
  std::vector<std::thread> threads;
  const auto closed = [&](const auto& r) {
    ++calls;
    EXPECT_TRUE(r.ok() || r.error().code == ErrorCode::store_closed);
    return !r.ok();
  };
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (bool over = false; !over;) {
        if (t % 3 == 0) {
          const auto r = store().patch(s.handle, op::increment("", "n", 1),
                                       {.user = kUser});
          over = closed(r);
          applied += r.ok();
        } else if (t % 3 == 1) {
          over = closed(store().list(kUser));
        } else {
          over = closed(store().get(s.handle, {.user = kUser}));
        }
      }
    });
  while (calls < 200) std::this_thread::yield();
  std::thread second([&] { EXPECT_TRUE(store().close().ok()); });
  EXPECT_TRUE(store().close().ok());
  second.join();
  for (auto& t : threads) t.join();
  close();
  open();
  EXPECT_EQ(get(s.handle).state->json()["n"], applied.load());
}

TEST_F(ReadersTest, FuturesFromManyThreadsAllBecomeReady) {
  AsyncHandleStore async(on_disk().new_place()(options), 4);
  const auto s =
      async.mint("note", R"({"n":0})"_j, {.user = kUser}).get().value();
  std::atomic<int> applied = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::vector<std::future<Result<Snapshot>>> futures;
      for (int i = 0; i < 50; ++i)
        futures.push_back(
            async.patch(s.handle, op::increment("", "n", 1), {.user = kUser}));
      for (auto& f : futures) applied += f.get().ok();
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(applied, 200);
  const auto g = async.get(s.handle, {.user = kUser}).get();
  EXPECT_EQ(g.value().state->text(), R"({"n":200})");
}

}  // namespace

}  // namespace satchel::test
