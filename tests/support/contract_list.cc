// Contract: the order of lists, and pages of them.

#include <algorithm>
#include <map>

#include "tests/support/contract.h"

namespace satchel::test {

void contract_list() {}

namespace {
std::vector<std::string> handles_of(const std::vector<HandleInfo>& infos) {
  std::vector<std::string> handles;
  for (const HandleInfo& i : infos) handles.push_back(i.handle);
  return handles;
}

bool in_order(const std::vector<HandleInfo>& infos) {
  return std::is_sorted(
      infos.begin(), infos.end(), [](const HandleInfo& a, const HandleInfo& b) {
        return a.updated_at != b.updated_at ? a.updated_at > b.updated_at
                                            : a.handle < b.handle;
      });
}
}  // namespace

TEST_P(Contract, ListIsMostRecentlyUpdatedFirst) {
  const auto a = mint("{}"_j);
  advance(1s);
  const auto b = mint("{}"_j, {.ttl = 1h, .writer = "w"}, "other");
  advance(1s);
  const auto c = mint("{}"_j);
  advance(1s);
  const auto a2 = patch(a.handle, op::set_key("", "k", 1));
  const auto all = list();
  ASSERT_EQ(handles_of(all),
            (std::vector<std::string>{a.handle, c.handle, b.handle}));
  EXPECT_TRUE(same_info(all[0], a2));
  EXPECT_TRUE(same_info(all[1], c));
  EXPECT_TRUE(same_info(all[2], b));
}

TEST_P(Contract, ListOfNobodyIsEmpty) {
  const ListPage page = store().list("nobody").value();
  EXPECT_TRUE(page.handles.empty());
  EXPECT_TRUE(page.cursor.empty());
}

TEST_P(Contract, EqualTimesAreOrderedByHandle) {
  for (int i = 0; i < 50; ++i) mint("{}"_j);
  const auto all = list({.limit = 7});
  EXPECT_EQ(all.size(), 50u);
  EXPECT_TRUE(in_order(all));
}

TEST_P(Contract, ListByKindShowsThatKindOnly) {
  for (int i = 0; i < 9; ++i) mint("{}"_j, {}, i % 3 == 0 ? "aa" : "a");
  EXPECT_EQ(list({.kind = "aa"}).size(), 3u);
  EXPECT_EQ(list({.kind = "a", .limit = 2}).size(), 6u);
  EXPECT_EQ(list({.kind = "aaa"}).size(), 0u);
  for (const auto& info : list({.kind = "a"})) EXPECT_EQ(info.kind, "a");
}

TEST_P(Contract, NoCursorAtTheEnd) {
  for (int i = 0; i < 4; ++i) mint("{}"_j);
  EXPECT_TRUE(store().list(kUser, {.limit = 4}).value().cursor.empty());
  EXPECT_TRUE(store().list(kUser, {.limit = 5}).value().cursor.empty());
  const ListPage first = store().list(kUser, {.limit = 3}).value();
  ASSERT_FALSE(first.cursor.empty());
  const ListPage last =
      store().list(kUser, {.limit = 3, .cursor = first.cursor}).value();
  EXPECT_EQ(last.handles.size(), 1u);
  EXPECT_TRUE(last.cursor.empty());
}

TEST_P(Contract, UntouchedHandlesAppearOnceWhileOthersChange) {
  std::map<std::string, int> seen;
  for (int i = 0; i < 205; ++i) seen[mint("{}"_j).handle] = 0;
  ListOptions o{.limit = 100};
  std::vector<HandleInfo> all;
  const auto page = [&] {
    const ListPage p = store().list(kUser, o).value();
    for (const auto& info : p.handles) ++seen[info.handle], all.push_back(info);
    o.cursor = p.cursor;
  };
  page();
  // Of those not seen yet: one is touched, one revoked; and one is new.
  std::vector<std::string> unseen;
  for (const auto& [handle, times] : seen)
    if (times == 0) unseen.push_back(handle);
  ASSERT_EQ(unseen.size(), 105u);
  touch(unseen[50], 1h);
  revoke(unseen[51]);
  const auto fresh = mint("{}"_j);
  page();
  revoke(all.back().handle);  // The very place that the cursor stands on.
  for (int i = 0; i < 3 && !o.cursor.empty(); ++i) page();
  EXPECT_TRUE(o.cursor.empty());
  for (const auto& [handle, times] : seen) {
    if (handle == unseen[50] || handle == fresh.handle) {
      EXPECT_LE(times, 1);
    } else {
      EXPECT_EQ(times, handle == unseen[51] ? 0 : 1) << handle;
    }
  }
  EXPECT_TRUE(in_order(all));
}

TEST_P(Contract, HandlesThatExpireBetweenPagesDropOut) {
  for (int i = 0; i < 10; ++i) mint("{}"_j, {.ttl = i % 2 ? 1h : 5h});
  const ListPage first = store().list(kUser, {.limit = 2}).value();
  advance(1h);
  const auto rest = list({.cursor = first.cursor});
  for (const auto& info : rest) EXPECT_GT(*info.expires_at, clock->now());
  EXPECT_GE(rest.size(), 3u);
  EXPECT_LE(rest.size(), 5u);
}

TEST_P(Contract, CursorsAreGoodAcrossAReopenAndForAnotherLimit) {
  for (int i = 0; i < 10; ++i) mint("{}"_j);
  const auto all = handles_of(list());
  const ListPage first = store().list(kUser, {.limit = 3}).value();
  if (keeps()) reopen();
  const ListPage rest =
      store().list(kUser, {.limit = 1000, .cursor = first.cursor}).value();
  EXPECT_EQ(handles_of(rest.handles),
            std::vector<std::string>(all.begin() + 3, all.end()));
}

TEST_P(Contract, CursorsOfAnotherUserOrQueryAreRefused) {
  for (int i = 0; i < 4; ++i) {
    mint("{}"_j);
    mint("{}"_j, {.user = "bob"});
  }
  const std::string plain = store().list(kUser, {.limit = 1}).value().cursor;
  const std::string of_kind =
      store().list(kUser, {.kind = "note", .limit = 1}).value().cursor;
  const std::string with_expired =
      store().list(kUser, {.include_expired = true, .limit = 1}).value().cursor;
  const auto refused = [&](std::string_view user, ListOptions o) {
    expect_error(store().list(user, o), ErrorCode::invalid_input, "cursor");
  };
  refused("bob", {.cursor = plain});
  refused(kUser, {.kind = "note", .cursor = plain});
  refused(kUser, {.kind = "other", .cursor = of_kind});
  refused(kUser, {.cursor = of_kind});
  refused(kUser, {.include_expired = true, .cursor = plain});
  refused(kUser, {.cursor = with_expired});
}

TEST_P(Contract, CursorsOfAnotherStoreAreRefused) {
  mint("{}"_j), mint("{}"_j);
  const auto other = backend_.new_place()(options);
  for (int i = 0; i < 2; ++i)
    other->mint("note", "{}"_j, {.user = kUser}).value();
  const std::string foreign = other->list(kUser, {.limit = 1}).value().cursor;
  expect_error(store().list(kUser, {.cursor = foreign}),
               ErrorCode::invalid_input, "cursor");
}

TEST_P(Contract, EveryAlteredCursorIsRefused) {
  for (int i = 0; i < 4; ++i) mint("{}"_j);
  const std::string good = store().list(kUser, {.limit = 1}).value().cursor;
  ASSERT_TRUE(store().list(kUser, {.cursor = good}).ok());
  std::vector<std::string> bad = {good.substr(0, good.size() - 1),
                                  good + good,
                                  good + "=",
                                  good + " ",
                                  " " + good,
                                  "x",
                                  good.substr(1),
                                  std::string(1 << 20, 'A'),
                                  std::string("\0", 1),
                                  "\xff",
                                  good + '\0'};
  const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.";
  for (std::size_t i = 0; i < good.size(); ++i) {
    // The last characters with every other one: there unused bits may hide.
    const bool all = i + 3 >= good.size();
    for (std::size_t k = i % 7; k < alphabet.size(); k += all ? 1 : 9) {
      if (alphabet[k] == good[i]) continue;
      bad.push_back(good);
      bad.back()[i] = alphabet[k];
    }
  }
  EXPECT_GT(bad.size(), 100u);
  for (const std::string& cursor : bad)
    expect_error(store().list(kUser, {.cursor = cursor}),
                 ErrorCode::invalid_input, "cursor");
}

TEST_P(Contract, OrderHoldsWhenTheClockFalls) {
  const auto a = mint("{}"_j);
  clock->step(-5min);
  const auto b = mint("{}"_j);
  const auto a2 = patch(a.handle, op::set_key("", "k", 1));
  EXPECT_EQ(a2.version, 2u);
  EXPECT_GT(a2.updated_at, a.updated_at);
  EXPECT_EQ(handles_of(list()), (std::vector<std::string>{a.handle, b.handle}));
  EXPECT_TRUE(in_order(list()));
}

}  // namespace satchel::test
