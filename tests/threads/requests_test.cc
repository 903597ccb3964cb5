// Races for what may happen once only: a request id, the last free place.

#include "tests/support/fixture.h"
#include "tests/threads/threads.h"

namespace satchel::test {

namespace {

class RequestRaces : public StoreTest {
 protected:
  void SetUp() override {
    options.durability = Durability::os;
    options.contention_time = 60s;
    open();
  }
  /// The results of `call` from 16 threads that start at once.
  template <class F>
  auto from_sixteen(F call) {
    std::vector<decltype(call(0))> results(16, call_placeholder<F>());
    in_threads(16, [&](int t) { results[std::size_t(t)] = call(t); });
    return results;
  }

 private:
  template <class F>
  static auto call_placeholder() -> std::invoke_result_t<F, int> {
    return Error(ErrorCode::internal_error, "no call was made");
  }
};

TEST_F(RequestRaces, OnePatchIdAppliesOnce) {
  const auto s = mint(R"({"n":0})"_j);
  for (int round = 0; round < 10; ++round) {
    const std::string id = "r" + std::to_string(round);
    const auto results = from_sixteen([&](int t) {
      return store().patch(
          s.handle, op::increment("", "n", 1),
          {.user = kUser, .writer = "t" + std::to_string(t), .request_id = id});
    });
    for (const auto& r : results) {
      ASSERT_TRUE(r.ok()) << r.error().message;
      EXPECT_TRUE(same_info(*r, *results[0]));
    }
    EXPECT_EQ(get(s.handle).state->json()["n"], round + 1);
    EXPECT_EQ(get(s.handle).version, std::uint64_t(round + 2));
  }
}

TEST_F(RequestRaces, OneMintIdMakesOneHandle) {
  for (int round = 0; round < 10; ++round) {
    const std::string id = "m" + std::to_string(round);
    const auto results = from_sixteen([&](int) {
      return store().mint("note", "{}"_j, {.user = kUser, .request_id = id});
    });
    for (const auto& r : results) {
      ASSERT_TRUE(r.ok()) << r.error().message;
      EXPECT_TRUE(same_info(*r, *results[0]));
    }
    EXPECT_EQ(list().size(), std::size_t(round + 1));
  }
}

TEST_F(RequestRaces, OneIdForTwoHandlesAppliesToOneOfThem) {
  for (int round = 0; round < 10; ++round) {
    const auto a = mint(R"({"n":0})"_j), b = mint(R"({"n":0})"_j);
    const std::string id = "x" + std::to_string(round);
    const auto results = from_sixteen([&](int t) {
      return store().patch(t % 2 ? a.handle : b.handle,
                           op::increment("", "n", 1),
                           {.user = kUser, .request_id = id});
    });
    int applied = 0;
    for (const auto& r : results) {
      if (r.ok())
        ++applied;
      else
        EXPECT_EQ(name(r.error().code), name(ErrorCode::request_conflict));
    }
    EXPECT_EQ(applied, 8);
    EXPECT_EQ(get(a.handle).version + get(b.handle).version, 3u);
  }
}

TEST_F(RequestRaces, OneRevokeIdSucceedsForAll) {
  const auto s = mint("{}"_j);
  const auto results = from_sixteen([&](int) {
    return store().revoke(s.handle, {.user = kUser, .request_id = "r"});
  });
  for (const auto& r : results) EXPECT_TRUE(r.ok()) << r.error().message;
}

TEST_F(RequestRaces, OfRevokersWithoutAnIdOneWins) {
  const auto s = mint("{}"_j);
  const auto results = from_sixteen(
      [&](int) { return store().revoke(s.handle, {.user = kUser}); });
  int won = 0;
  for (const auto& r : results) {
    if (r.ok())
      ++won;
    else
      EXPECT_EQ(name(r.error().code), name(ErrorCode::handle_not_found));
  }
  EXPECT_EQ(won, 1);
}

TEST_F(RequestRaces, ExactlyTheQuotaOfHandlesIsMinted) {
  close();
  options.max_handles_per_user = 5;
  open();
  const auto results = from_sixteen(
      [&](int) { return store().mint("note", "{}"_j, {.user = kUser}); });
  int minted = 0;
  for (const auto& r : results) {
    if (r.ok())
      ++minted;
    else
      expect_error(r, ErrorCode::quota_exceeded);
  }
  EXPECT_EQ(minted, 5);
  EXPECT_EQ(list().size(), 5u);
}

TEST_F(RequestRaces, ExactlyTheQuotaOfRequestIdsIsTaken) {
  close();
  options.max_request_ids_per_user = 5;
  open();
  const auto results = from_sixteen([&](int t) {
    return store().mint("note", "{}"_j,
                        {.user = kUser, .request_id = "r" + std::to_string(t)});
  });
  int minted = 0;
  for (const auto& r : results) {
    if (r.ok())
      ++minted;
    else
      expect_error(r, ErrorCode::quota_exceeded);
  }
  EXPECT_EQ(minted, 5);
  EXPECT_EQ(list().size(), 5u);
}

}  // namespace

}  // namespace satchel::test
