// A store of each released format, as an earlier program left it: what it holds
// is found again. A failure here means that users' stores cannot be read.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/fixture.h"

namespace satchel::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHandle = "research_umasv5u6";

/// A copy of tests/golden/format-1, open at a time soon after it was made.
class GoldenStore : public testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("SATCHEL_SOURCE_DIR");
    ASSERT_NE(source, nullptr) << "set SATCHEL_SOURCE_DIR to the checkout";
    fs::copy(fs::path(source) / "tests/golden/format-1", folder_.path(),
             fs::copy_options::recursive);
    Options options;
    options.clock = clock_;
    options.sweeper = false;
    clock_->set(start_of_tests() + 2s);
    store_ = HandleStore::open(folder_.path().string(), options).value();
  }

  TemporaryFolder folder_;
  std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
  std::unique_ptr<HandleStore> store_;
};

TEST_F(GoldenStore, HoldsItsHandlesAndTheirHistory) {
  const auto now = store_->get(kHandle, {.user = "alice"}).value();
  EXPECT_EQ(now.version, 3u);
  EXPECT_EQ(now.last_writer, "laptop");
  EXPECT_EQ(now.state->text(), R"({"topic":"moon"})");
  EXPECT_EQ(now.created_at, start_of_tests());
  EXPECT_EQ(now.expires_at, start_of_tests() + 7 * 24h);
  const auto before =
      store_->get(kHandle, {.user = "alice", .version = 2}).value();
  EXPECT_EQ(before.state->text(),
            R"({"topic":"tides","sources":["a.pdf"],"id":725653563933458432})");
  EXPECT_EQ(before.last_writer, "phone");
  EXPECT_EQ(store_->history(kHandle, "alice").value().versions.size(), 3u);
  EXPECT_EQ(store_->list("bob").value().handles.size(), 1u);
  expect_error(store_->get("gone_f4zttzjg", {.user = "bob"}),
               ErrorCode::handle_not_found);
}

TEST_F(GoldenStore, RemembersItsRequests) {
  const auto state =
      Document::parse(
          R"({"topic":"tides","sources":[],"id":725653563933458432})")
          .value();
  const MintOptions options{
      .user = "alice", .ttl = 24h * 7, .request_id = "r1"};
  EXPECT_EQ(store_->mint("research", state, options).value().handle, kHandle);
}

TEST_F(GoldenStore, HoldsItsKeyValueEntries) {
  const auto kv = store_->scope("alice", "mailer").value();
  const auto theme = kv->get("theme").value();
  ASSERT_TRUE(theme.has_value());
  EXPECT_EQ(theme->value.text(), R"("dark")");
  EXPECT_EQ(theme->expires_at, start_of_tests() + 2s + 90 * 24h);
  EXPECT_EQ(kv->increment("sent", {.ttl = 1h}).value(), 43);
  EXPECT_EQ(kv->usage().value().used_bytes, 17u);
}

}  // namespace
}  // namespace satchel::test
