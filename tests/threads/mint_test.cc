// A new handle is found by others before its mint returns; what they did to it
// was overwritten when the mint reported itself last: a patch was lost, and a
// revoked handle lived again.

#include <atomic>
#include <thread>

#include "tests/support/fixture.h"

namespace satchel::test {
namespace {

TEST(MintTest, WhatOthersDoToAHandleInBirthStands) {
  constexpr int kHandles = 1500;
  Options options;
  options.sweeper = false;
  options.durability = Durability::os;
  const auto store = HandleStore::open("memory:", options).value();
  std::atomic<bool> minting{true};
  std::thread minter([&] {
    for (int i = 0; i < kHandles; ++i) {
      store->mint("note", Json{{"n", i}}, {.user = kUser}).value();
    }
    minting = false;
  });
  std::string last;
  int seen = 0;
  while (minting) {
    const auto page = store->list(kUser, {.limit = 1}).value();
    if (page.handles.empty() || page.handles[0].handle == last) continue;
    last = page.handles[0].handle;
    if (++seen % 2 == 0) {
      ASSERT_TRUE(store->revoke(last, {.user = kUser}).ok());
      EXPECT_FALSE(store->get(last, {.user = kUser}).ok());
    } else {
      const auto patched =
          store->patch(last, op::set_key("", "b", 1), {.user = kUser}).value();
      EXPECT_GE(store->get(last, {.user = kUser}).value().version,
                patched.version);
    }
  }
  minter.join();
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace satchel::test
