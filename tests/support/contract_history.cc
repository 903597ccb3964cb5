// Contract: old versions, what changed, and going back.

#include "satchel/objects.h"
#include "tests/support/contract.h"

namespace satchel::test {

void contract_history() {}

TEST_P(Contract, HistoryTellsWhatMadeEachVersion) {
  const auto s = mint(R"({"l":[]})"_j, {.writer = "a"});
  advance(1s);
  patch(s.handle, op::append("l", 1), {.writer = "b"});
  advance(1s);
  touch(s.handle, 1h, {.writer = "c"});
  save(s.handle, "{}"_j, 3, {.writer = "d"});
  revert(s.handle, 2, {.writer = "e"});
  patch(s.handle, Json::array(), {.writer = "nobody"});
  const History h = history(s.handle);
  EXPECT_EQ(h.handle, s.handle);
  EXPECT_EQ(h.oldest, 1u);
  ASSERT_EQ(h.versions.size(), 5u);
  const Change kWhat[] = {Change::revert, Change::save, Change::touch,
                          Change::patch, Change::mint};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(h.versions[i].version, 5 - i);
    EXPECT_EQ(h.versions[i].what, kWhat[i]);
    EXPECT_EQ(h.versions[i].writer, std::string(1, static_cast<char>('e' - i)));
  }
  EXPECT_EQ(h.versions[4].at, s.created_at);
  EXPECT_EQ(h.versions[3].at, s.created_at + 1s);
  EXPECT_EQ(h.versions[0].at, get(s.handle).updated_at);
}

TEST_P(Contract, OldVersionsReadBackAsTheyWere) {
  const auto s = mint(R"({"n":0})"_j, {.ttl = 1h, .writer = "w1"});
  std::vector<Snapshot> snapshots = {get(s.handle)};
  for (int i = 1; i < 20; ++i) {
    advance(1s);
    const std::string w = "w" + std::to_string(i + 1);
    if (i % 5 == 0) {
      save(s.handle, Json{{"n", i}, {"pad", std::string(5000, 'x')}},
           snapshots.back().version, {.writer = w});
    } else if (i % 7 == 0) {
      touch(s.handle, 2h, {.writer = w});
    } else {
      patch(s.handle, op::set_key("", "n", i), {.writer = w});
    }
    snapshots.push_back(get(s.handle));
  }
  const auto check = [&] {
    for (const Snapshot& old : snapshots) {
      const Snapshot g = get(s.handle, {.version = old.version});
      EXPECT_EQ(g.version, old.version);
      EXPECT_EQ(g.state, old.state) << old.version;
      EXPECT_EQ(g.updated_at, old.updated_at);
      EXPECT_EQ(g.last_writer, old.last_writer);
      EXPECT_EQ(g.created_at, s.created_at);
      EXPECT_EQ(g.expires_at, snapshots.back().expires_at);
    }
  };
  check();
  EXPECT_EQ(get(s.handle, {.version = 3, .path = "n"}).state->text(), "2");
  if (!keeps()) return;
  reopen();
  check();
}

TEST_P(Contract, TheNewestVersionsAreKeptAndOlderOnesSaySo) {
  options.history_versions = 4;
  open_with_options();
  const auto s = mint(R"({"n":1})"_j);
  for (std::uint64_t v = 1; v < 40; ++v) save(s.handle, Json{{"n", v + 1}}, v);
  const History h = history(s.handle);
  EXPECT_GT(h.oldest, 1u) << "nothing was ever dropped";
  EXPECT_LE(h.oldest, 37u);
  EXPECT_EQ(h.versions.size(), 40 - h.oldest + 1);
  EXPECT_EQ(h.versions.back().version, h.oldest);
  for (std::uint64_t v = h.oldest; v <= 40; ++v)
    EXPECT_EQ(get(s.handle, {.version = v}).state->json()["n"], v);
  for (std::uint64_t v = 1; v < h.oldest; ++v) {
    const auto g = store().get(s.handle, {.user = kUser, .version = v});
    EXPECT_EQ(expect_error(g, ErrorCode::version_gone).details["oldest"],
              h.oldest);
    const auto r = store().revert(s.handle, v, {.user = kUser});
    EXPECT_EQ(expect_error(r, ErrorCode::version_gone).details["oldest"],
              h.oldest);
  }
}

TEST_P(Contract, HistoryIsBoundedInBytesToo) {
  options.history_bytes = 100'000;
  open_with_options();
  const auto s = mint("{}"_j);
  for (std::uint64_t v = 1; v <= 30; ++v)
    save(s.handle, Json{{"v", v}, {"pad", std::string(30'000, 'x')}}, v);
  const History h = history(s.handle);
  EXPECT_GT(h.oldest, 10u);
  // Between 27 and the current 31 lie three states, 90,000 bytes.
  EXPECT_LE(h.oldest, 27u);
  EXPECT_EQ(get(s.handle, {.version = h.oldest}).state->json()["v"],
            h.oldest - 1);
}

TEST_P(Contract, ChangesLeadFromThereToHere) {
  const auto s = mint(R"({"l":[],"n":0})"_j);
  patch(s.handle, op::append("l", "a"), {.writer = "w"});
  touch(s.handle, 1h);
  patch(s.handle, Json::array({op::increment("", "n", 2), op::append("l", 1)}));
  const Changes c = changes(s.handle, 1);
  EXPECT_EQ(c.handle, s.handle);
  EXPECT_EQ(c.since, 1u);
  EXPECT_EQ(c.version, 4u);
  ASSERT_EQ(c.kind, Changes::Kind::changes);
  ASSERT_EQ(c.entries.size(), 3u);
  EXPECT_EQ(c.entries[0].version, 2u);
  EXPECT_EQ(c.entries[0].writer, "w");
  EXPECT_EQ(c.entries[0].what, Change::patch);
  EXPECT_EQ(c.entries[1].what, Change::touch);
  EXPECT_EQ(c.entries[1].ops.text(), "[]");
  // The ops make the one state out of the other.
  const auto copy = mint(*get(s.handle, {.version = 1}).state);
  for (const auto& entry : c.entries) patch(copy.handle, entry.ops);
  EXPECT_EQ(text(copy.handle), text(s.handle));
}

TEST_P(Contract, NothingChangedIsAnEmptyListOfChanges) {
  const auto s = mint("{}"_j);
  touch(s.handle, 1h);
  const Changes c = changes(s.handle, 2);
  EXPECT_EQ(c.kind, Changes::Kind::changes);
  EXPECT_TRUE(c.entries.empty());
  EXPECT_EQ(c.version, 2u);
}

TEST_P(Contract, AMintSaveOrRevertInBetweenReplaces) {
  const auto s = mint(R"({"n":0})"_j);
  const auto replaced = [&](std::uint64_t since) {
    const Changes c = changes(s.handle, since);
    EXPECT_EQ(c.kind, Changes::Kind::replaced) << since;
    EXPECT_EQ(c.state.text(), text(s.handle));
    EXPECT_EQ(c.version, get(s.handle).version);
    EXPECT_TRUE(c.entries.empty());
  };
  replaced(0);
  patch(s.handle, op::increment("", "n", 1));
  replaced(0);
  EXPECT_EQ(changes(s.handle, 1).kind, Changes::Kind::changes);
  save(s.handle, R"({"n":7})"_j, 2);
  replaced(1);
  patch(s.handle, op::increment("", "n", 1));
  replaced(2);
  EXPECT_EQ(changes(s.handle, 3).kind, Changes::Kind::changes);
  revert(s.handle, 1);
  replaced(3);
  replaced(4);
  EXPECT_EQ(changes(s.handle, 5).kind, Changes::Kind::changes);
}

TEST_P(Contract, ChangesThatAreNotKeptAreTooOld) {
  options.history_versions = 2;
  open_with_options();
  const auto s = mint(R"({"n":0})"_j);
  for (std::uint64_t v = 1; v < 30; ++v) save(s.handle, Json{{"n", v}}, v);
  const std::uint64_t oldest = history(s.handle).oldest;
  ASSERT_GT(oldest, 2u);
  for (std::uint64_t since : {std::uint64_t{0}, std::uint64_t{1}, oldest - 2}) {
    const Changes c = changes(s.handle, since);
    EXPECT_EQ(c.kind, Changes::Kind::too_old) << since;
    EXPECT_EQ(c.oldest, oldest);
    EXPECT_EQ(c.state.text(), R"({"n":29})");
    EXPECT_EQ(c.version, 30u);
  }
  EXPECT_EQ(changes(s.handle, oldest - 1).kind, Changes::Kind::replaced);
}

TEST_P(Contract, RevertIsANewVersionWithTheOldState) {
  const auto s = mint(R"({"n":1.0,"b":1,"a":2})"_j, {.ttl = 1h});
  save(s.handle, R"({"n":2})"_j, 1);
  advance(1min);
  const auto r = revert(s.handle, 1, {.writer = "back"});
  EXPECT_EQ(r.version, 3u);
  EXPECT_EQ(r.updated_at, clock->now());
  EXPECT_EQ(r.expires_at, s.expires_at);
  EXPECT_EQ(r.last_writer, "back");
  EXPECT_EQ(text(s.handle), R"({"n":1.0,"b":1,"a":2})");
  EXPECT_EQ(revert(s.handle, 3).version, 4u);
  EXPECT_EQ(get(s.handle, {.version = 2}).state->text(), R"({"n":2})");
}

TEST_P(Contract, RevertDoesNotBringATtlBack) {
  const auto s = mint("{}"_j, {.ttl = 1h});
  touch(s.handle, Ttl::persist());
  EXPECT_FALSE(revert(s.handle, 1).expires_at.has_value());
  const auto t = touch(s.handle, 5h);
  EXPECT_EQ(revert(s.handle, 2).expires_at, t.expires_at);
}

TEST_P(Contract, LongRunsOfPatchesKeepTheirHistory) {
  const auto s = mint(R"({"l":[]})"_j);
  for (int i = 0; i < 300; ++i)
    patch(s.handle, op::append("l", std::string(100, 'x')));
  const History h = history(s.handle);
  EXPECT_LE(h.oldest, 301u - 31);
  for (const VersionInfo& v : h.versions) {
    if (v.version % 10 != 0 && v.version != h.oldest) continue;
    const auto g = get(s.handle, {.version = v.version});
    EXPECT_EQ(g.state->json()["l"].size(), v.version - 1);
    EXPECT_EQ(g.updated_at, v.at);
  }
}

}  // namespace satchel::test
