// Contract: the end of a store, and the store behind futures.

#include <future>
#include <thread>

#include "satchel/async.h"
#include "tests/support/contract.h"

namespace satchel::test {

void contract_lifetime() {}

TEST_P(Contract, EveryCallAfterCloseSaysSo) {
  const auto s = mint("{}"_j);
  store().close().value();
  for (Call call : kHandleCalls) {
    const auto e = error_of(store(), call, s.handle, kUser);
    ASSERT_TRUE(e.has_value()) << name(call);
    EXPECT_EQ(e->code, ErrorCode::store_closed) << name(call);
  }
  expect_error(store().mint("note", "{}"_j, {.user = kUser}),
               ErrorCode::store_closed);
  expect_error(store().list(kUser), ErrorCode::store_closed);
  expect_error(store().sweep(kUser), ErrorCode::store_closed);
  EXPECT_TRUE(store().close().ok());
  open_with_options();
  EXPECT_EQ(list().size(), keeps() ? 1u : 0u);
}

TEST_P(Contract, CloseWaitsForCallsOfOtherThreads) {
  const auto s = mint(R"({"n":0})"_j);
  std::atomic<int> applied = 0;
  std::promise<void> started;
  std::thread writer([&] {
    for (;;) {
      const auto r =
          store().patch(s.handle, op::increment("", "n", 1), {.user = kUser});
      if (!r.ok()) {
        EXPECT_EQ(name(r.error().code), name(ErrorCode::store_closed));
        return;
      }
      if (++applied == 10) started.set_value();
    }
  });
  started.get_future().wait();
  EXPECT_TRUE(store().close().ok());
  writer.join();
  open_with_options();
  if (!keeps()) return;
  EXPECT_EQ(get(s.handle).state->json()["n"], applied.load());
}

TEST_P(Contract, OptionsOutOfRangeAreNamedAllAtOnce) {
  close();
  Options bad = options;
  bad.max_state_bytes = 1;
  bad.workers = 0;
  bad.history_versions = 0;
  try {
    backend_.new_place()(bad);
    ADD_FAILURE() << "it opened";
  } catch (const Error& e) {
    EXPECT_EQ(name(e.code), name(ErrorCode::invalid_input));
    EXPECT_EQ(e.details.value("field", ""), "store");
    for (const char* field : {"max_state_bytes", "workers", "history_versions"})
      EXPECT_NE(e.message.find(field), std::string::npos) << e.message;
  }
}

TEST_P(Contract, FuturesGiveWhatTheCallsGive) {
  AsyncHandleStore async(backend_.new_place()(options), 3);
  const auto s =
      async.mint("note", R"({"l":[]})"_j, {.user = kUser}).get().value();
  EXPECT_EQ(async.patch(s.handle, op::append("l", 1), {.user = kUser})
                .get()
                .value()
                .version,
            2u);
  EXPECT_EQ(async.get(s.handle, {.user = kUser}).get().value().state->text(),
            R"({"l":[1]})");
  expect_error(
      async.save(s.handle, "{}"_j, {.user = kUser, .expect_version = 1}).get(),
      ErrorCode::stale_write);
  EXPECT_EQ(
      async.touch(s.handle, {.user = kUser, .ttl = 1h}).get().value().version,
      3u);
  EXPECT_EQ(async.revert(s.handle, 1, {.user = kUser}).get().value().version,
            4u);
  EXPECT_EQ(async.history(s.handle, kUser).get().value().versions.size(), 4u);
  EXPECT_EQ(async.changes_since(s.handle, 4, kUser).get().value().version, 4u);
  EXPECT_EQ(async.list(kUser).get().value().handles.size(), 1u);
  EXPECT_TRUE(async.revoke(s.handle, {.user = kUser}).get().ok());
  EXPECT_EQ(async.sweep(kUser).get().value(), 0u);
  EXPECT_TRUE(async.close().ok());
}

TEST_P(Contract, AcceptedFuturesBecomeReadyWhenTheStoreCloses) {
  std::vector<std::future<Result<Snapshot>>> futures;
  {
    AsyncHandleStore async(backend_.new_place()(options), 2);
    const auto s =
        async.mint("note", R"({"n":0})"_j, {.user = kUser}).get().value();
    for (int i = 0; i < 50; ++i)
      futures.push_back(
          async.patch(s.handle, op::increment("", "n", 1), {.user = kUser}));
    EXPECT_TRUE(async.close().ok());
    auto late = async.get(s.handle, {.user = kUser});
    ASSERT_EQ(late.wait_for(0s), std::future_status::ready);
    expect_error(late.get(), ErrorCode::store_closed);
    EXPECT_TRUE(async.close().ok());
  }
  for (auto& f : futures) {
    ASSERT_EQ(f.wait_for(0s), std::future_status::ready);
    EXPECT_TRUE(f.get().ok()) << "close finishes what was accepted";
  }
}

TEST_P(Contract, FuturesOutliveADestroyedStore) {
  std::vector<std::future<Result<Snapshot>>> futures;
  {
    AsyncHandleStore async(backend_.new_place()(options), 1);
    for (int i = 0; i < 50; ++i)
      futures.push_back(async.mint("note", "{}"_j, {.user = kUser}));
  }
  for (auto& f : futures) {
    ASSERT_EQ(f.wait_for(0s), std::future_status::ready);
    const auto r = f.get();
    EXPECT_TRUE(r.ok() || r.error().code == ErrorCode::store_closed);
  }
}

}  // namespace satchel::test
