// History with a hole in its middle: a version that lived shorter than those
// around it. Once its records were compacted away, the versions before it were
// taken to reach up to the current ones: history said that the store was
// damaged, and an old version could have come back with another's content.

#include "api/embedded/embedded_store.h"
#include "storage/database.h"
#include "tests/support/fixture.h"

namespace satchel::test {

namespace {

class HistoryGapTest : public StoreTest {
 protected:
  embedded::EmbeddedStore& embedded() {
    return dynamic_cast<embedded::EmbeddedStore&>(store());
  }
  /// Versions 2 and 3 live for an hour, 1 and 4 for ever.
  void SetUp() override {
    StoreTest::SetUp();
    handle_ = mint(R"({"v":1})"_j).handle;
    save(handle_, R"({"v":2})"_j, 1, {.ttl = 1h});
    patch(handle_, op::set_key("", "v", 3));
    save(handle_, R"({"v":4})"_j, 3, {.ttl = Ttl::persist()});
    ASSERT_EQ(history(handle_).oldest, 1u);
    advance(3h);
    embedded().sweep_all();
  }
  void only_the_newest_is_there() {
    EXPECT_EQ(text(handle_), R"({"v":4})");
    const History h = history(handle_);
    EXPECT_EQ(h.oldest, 4u);
    EXPECT_EQ(h.versions.size(), 1u);
    for (std::uint64_t v = 1; v < 4; ++v) {
      expect_error(store().get(handle_, {.user = kUser, .version = v}),
                   ErrorCode::version_gone);
      expect_error(store().revert(handle_, v, {.user = kUser}),
                   ErrorCode::version_gone);
    }
    EXPECT_EQ(changes(handle_, 1).kind, Changes::Kind::too_old);
    EXPECT_EQ(changes(handle_, 3).kind, Changes::Kind::replaced);
  }
  std::string handle_;
};

TEST_F(HistoryGapTest, VersionsBeforeAnExpiredOneAreGone) {
  only_the_newest_is_there();
  reopen();
  only_the_newest_is_there();
}

TEST_F(HistoryGapTest, TheyAreGoneAfterACompactionToo) {
  embedded().database().compact_all();
  only_the_newest_is_there();
  reopen();
  only_the_newest_is_there();
}

TEST_F(HistoryGapTest, NewVersionsGrowOnTheRightSideOfTheGap) {
  embedded().database().compact_all();
  reopen();
  save(handle_, R"({"v":5})"_j, 4);
  patch(handle_, op::set_key("", "v", 6));
  EXPECT_EQ(history(handle_).oldest, 4u);
  EXPECT_EQ(get(handle_, {.version = 4}).state->text(), R"({"v":4})");
  EXPECT_EQ(get(handle_, {.version = 5}).state->text(), R"({"v":5})");
  revoke(handle_);
  embedded().database().compact_all();
  expect_error(store().get(handle_, {.user = kUser}),
               ErrorCode::handle_not_found);
}

}  // namespace

}  // namespace satchel::test
