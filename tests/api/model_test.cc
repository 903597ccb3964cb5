// Random calls against the model, with clock moves, flushes, compactions and
// reopens. A run is reproduced with SATCHEL_SEED; SATCHEL_MODEL_STEPS makes it
// longer.

#include <cstdlib>
#include <deque>
#include <iostream>
#include <random>
#include <set>

#include "api/embedded/embedded_store.h"
#include "satchel/objects.h"
#include "storage/database.h"
#include "tests/support/model.h"

namespace satchel::test {

namespace {

std::uint64_t from_environment(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value && *value ? std::strtoull(value, nullptr, 10) : otherwise;
}

const std::vector<std::string> kUsers = {"a", "ab", "b\xf4\x8f\xbf\xbf"};

class ModelTest : public StoreTest {
 protected:
  void run(std::uint64_t seed, std::uint64_t steps);

 private:
  static constexpr std::size_t kBusy = 3;
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(int percent) { return below(100) < std::size_t(percent); }
  template <class T>
  const T& any(const std::vector<T>& v) {
    return v[below(v.size())];
  }
  std::string user() { return any(kUsers); }
  std::string handle(const std::string& u);
  std::string state();
  Json ops();
  Ttl ttl();
  std::string request_id() {
    return chance(30) ? "r" + std::to_string(below(40)) : "";
  }
  std::string writer() { return "w" + std::to_string(below(3)); }
  void log(const std::string& line) {
    tail_.push_back(std::to_string(step_) + ": " + line);
    if (tail_.size() > 40) tail_.pop_front();
  }

  /// Checks a mutation that the model does not refuse on its own; true when it
  /// was applied (and is now to be put into the model).
  bool check_replay(const std::string& u, const std::string& id,
                    const std::string& fingerprint,
                    const Result<Snapshot>& result);
  void step();
  void mint_step();
  void read_step();
  void old_version_step();
  void save_step();
  void patch_step();
  void touch_step();
  void revert_step();
  void revoke_step();
  void list_step();
  void sweep_step();
  void time_step();
  void disturb_step();
  void learn_sweeps();
  void changes_step();
  void compare_all();
  void check_history(const std::string& u, const std::string& h);
  void expect_code(const Error& error, ErrorCode code) {
    EXPECT_EQ(name(error.code), name(code)) << error.message;
  }

  std::mt19937_64 random_;
  Model model_{*clock};
  std::deque<std::string> tail_;
  std::uint64_t step_ = 0;
  Time highest_{};
};

std::string ModelTest::handle(const std::string& u) {
  if (chance(4)) return "note_zzzzzzzz";
  const auto& from = model_.handles(chance(5) ? user() : u);
  if (from.empty()) return "note_zzzzzzzz";
  // Mostly the newest: one of many would hardly get a history.
  return chance(70) ? from.rbegin()[below(std::min(from.size(), kBusy))]
                    : any(from);
}

std::string ModelTest::state() {
  Json s{{"list", Json::array()}, {"map", Json::object()}, {"n", below(100)}};
  for (std::size_t i = below(4); i > 0; --i) s["list"].push_back(below(9));
  if (chance(20)) s["pad"] = std::string(below(6000), 'p');
  return s.dump();
}

Json ModelTest::ops() {
  Json list = Json::array();
  for (std::size_t i = below(4); i > 0; --i) {
    const std::string key = "k" + std::to_string(below(5));
    switch (below(7)) {
      case 0:
        list.push_back(op::append("list", below(9)));
        break;
      case 1:
        list.push_back(op::set_key("map", key, below(3)));
        break;
      case 2:
        list.push_back(op::del_key("map", key));
        break;
      case 3:
        list.push_back(op::merge(Json{{key, nullptr}}, "map"));
        break;
      case 4:
        list.push_back(op::increment("", "n", 1));
        break;
      case 5:
        list.push_back(op::add_to_set("list", below(9)));
        break;
      case 6:
        list.push_back(op::remove_value("list", below(9)));
        break;
    }
  }
  return list;
}

Ttl ModelTest::ttl() {
  if (chance(20)) return Ttl::persist();
  static const std::vector<microseconds> kTtls = {1ms,     5min,     3h,
                                                  days(2), days(20), days(400)};
  return any(kTtls);
}

bool ModelTest::check_replay(const std::string& u, const std::string& id,
                             const std::string& fingerprint,
                             const Result<Snapshot>& result) {
  if (id.empty()) return true;
  const auto expected = model_.replay(u, id, fingerprint);
  if (!expected) return true;
  if (expected->error) {
    EXPECT_FALSE(result.ok()) << "expected " << name(*expected->error);
    if (!result.ok()) expect_code(result.error(), *expected->error);
  } else {
    EXPECT_TRUE(result.ok()) << result.error().message;
    if (result.ok()) {
      EXPECT_TRUE(same_info(*result, expected->info));
    }
  }
  return false;
}

void ModelTest::mint_step() {
  const std::string u = user(), s = state(), id = request_id(), w = writer();
  const std::string kind = chance(50) ? "note" : "task";
  const Ttl t = chance(50) ? Ttl() : ttl();
  log("mint " + u + ' ' + id + " ttl " + std::to_string(t.duration().count()));
  const auto r =
      store().mint(kind, Document::parse(s),
                   {.user = u, .ttl = t, .writer = w, .request_id = id});
  const std::string print = "mint " + kind + s + '/' +
                            std::to_string(static_cast<int>(t.kind())) + '/' +
                            std::to_string(t.duration().count());
  if (!check_replay(u, id, print, r)) return;
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->version, 1u);
  EXPECT_EQ(r->updated_at, clock->now());
  EXPECT_EQ(r->expires_at.has_value(), t.kind() == Ttl::Kind::duration);
  if (r->expires_at) {
    EXPECT_EQ(*r->expires_at, clock->now() + t.duration());
  }
  EXPECT_EQ(model_.find(u, r->handle), nullptr) << "a handle came twice";
  model_.minted(u, *r, s, t.duration());
  model_.remember(u, id, print, *r);
}

void ModelTest::read_step() {
  const std::string u = user(), h = handle(u);
  log("get " + u + ' ' + h);
  const auto r = store().get(h, {.user = u});
  if (const auto code = model_.refusal(u, h)) {
    ASSERT_FALSE(r.ok());
    return expect_code(r.error(), *code);
  }
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_TRUE(same_info(*r, model_.find(u, h)->info));
  EXPECT_EQ(r->state->text(), model_.find(u, h)->state());
}

void ModelTest::old_version_step() {
  const std::string u = user(), h = handle(u);
  log("history " + u + ' ' + h);
  if (const auto code = model_.refusal(u, h)) {
    const auto r = store().history(h, u);
    ASSERT_FALSE(r.ok());
    return expect_code(r.error(), *code);
  }
  check_history(u, h);
}

void ModelTest::check_history(const std::string& u, const std::string& h) {
  const ModelHandle& m = *model_.find(u, h);
  const auto past = store().history(h, u);
  ASSERT_TRUE(past.ok()) << past.error().message;
  const std::uint64_t newest = m.info.version;
  ASSERT_GE(past->oldest, 1u);
  ASSERT_LE(past->oldest, newest);
  if (!m.renewed) {
    EXPECT_LE(past->oldest, newest > 32 ? newest - 31 : 1);
  }
  ASSERT_EQ(past->versions.size(), newest - past->oldest + 1);
  for (std::size_t i = 0; i < past->versions.size(); ++i) {
    const VersionInfo& v = past->versions[i];
    ASSERT_EQ(v.version, newest - i);
    const ModelVersion& want = m.versions[v.version - 1];
    EXPECT_EQ(v.what, want.what);
    EXPECT_EQ(v.writer, want.writer);
    EXPECT_EQ(v.at, want.at);
  }
  const std::uint64_t v = 1 + below(newest);
  const auto old = store().get(h, {.user = u, .version = v});
  if (v < past->oldest) {
    ASSERT_FALSE(old.ok());
    return expect_code(old.error(), ErrorCode::version_gone);
  }
  ASSERT_TRUE(old.ok()) << old.error().message;
  EXPECT_EQ(old->state->text(), m.versions[v - 1].state) << "version " << v;
  EXPECT_EQ(old->updated_at, m.versions[v - 1].at);
  EXPECT_EQ(old->expires_at, m.info.expires_at);
}

void ModelTest::save_step() {
  const std::string u = user(), h = handle(u), s = state();
  const std::string id = request_id(), w = writer();
  const ModelHandle* m = model_.find(u, h);
  const std::uint64_t now = m ? m->info.version : 1;
  const std::uint64_t expect = chance(80) ? now : 1 + below(now + 2);
  const Ttl t = chance(80) ? Ttl() : ttl();
  log("save " + u + ' ' + h + " v" + std::to_string(expect) + ' ' + id);
  const auto r = store().save(h, Document::parse(s),
                              {.user = u,
                               .expect_version = expect,
                               .writer = w,
                               .ttl = t,
                               .request_id = id});
  const std::string print = "save " + h + s + '/' + std::to_string(expect) +
                            '/' + std::to_string(static_cast<int>(t.kind())) +
                            '/' + std::to_string(t.duration().count());
  if (!check_replay(u, id, print, r)) return;
  if (const auto code = model_.refusal(u, h)) {
    ASSERT_FALSE(r.ok());
    return expect_code(r.error(), *code);
  }
  if (expect != now) {
    ASSERT_FALSE(r.ok());
    expect_code(r.error(), ErrorCode::stale_write);
    Snapshot current;
    static_cast<HandleInfo&>(current) = m->info;
    current.state = Document::parse(m->state()).value();
    EXPECT_EQ(r.error().details.value("current", Json()).dump(),
              to_json(current).dump());
    return;
  }
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_TRUE(same_info(*r, model_.wrote(u, h, {s, Change::save, w, {}}, t)));
  model_.remember(u, id, print, *r);
}

void ModelTest::patch_step() {
  const std::string u = user(), h = handle(u), id = request_id(), w = writer();
  const Json list = ops();
  log("patch " + u + ' ' + h + ' ' + id + ' ' + list.dump());
  const auto r = store().patch(
      h, list,
      {.user = u, .writer = w, .request_id = id, .return_state = true});
  const std::string print = "patch " + h + list.dump();
  if (!check_replay(u, id, print, r)) return;
  if (const auto code = model_.refusal(u, h)) {
    ASSERT_FALSE(r.ok());
    return expect_code(r.error(), *code);
  }
  ASSERT_TRUE(r.ok()) << r.error().message;
  const std::string after = apply_ops(model_.find(u, h)->state(), list);
  if (after == model_.find(u, h)->state())
    EXPECT_TRUE(same_info(*r, model_.find(u, h)->info)) << "a no-op";
  else
    EXPECT_TRUE(
        same_info(*r, model_.wrote(u, h, {after, Change::patch, w, {}, list})));
  EXPECT_EQ(r->state->text(), after);
  model_.remember(u, id, print, *r);
}

void ModelTest::touch_step() {
  const std::string u = user(), h = handle(u), id = request_id(), w = writer();
  const Ttl t = ttl();
  log("touch " + u + ' ' + h + ' ' + id + " ttl " +
      std::to_string(t.duration().count()));
  const auto r =
      store().touch(h, {.user = u, .ttl = t, .writer = w, .request_id = id});
  const std::string print = "touch " + h + '/' +
                            std::to_string(static_cast<int>(t.kind())) + '/' +
                            std::to_string(t.duration().count());
  if (!check_replay(u, id, print, r)) return;
  if (const auto code = model_.refusal(u, h)) {
    ASSERT_FALSE(r.ok());
    return expect_code(r.error(), *code);
  }
  ASSERT_TRUE(r.ok()) << r.error().message;
  const std::string same = model_.find(u, h)->state();
  EXPECT_TRUE(
      same_info(*r, model_.wrote(u, h, {same, Change::touch, w, {}}, t)));
  model_.remember(u, id, print, *r);
}

void ModelTest::revert_step() {
  const std::string u = user(), h = handle(u), id = request_id(), w = writer();
  const ModelHandle* m = model_.find(u, h);
  const std::uint64_t to = 1 + below(m ? m->info.version : 3);
  log("revert " + u + ' ' + h + " to " + std::to_string(to) + ' ' + id);
  const auto past = store().history(h, u);
  const auto r =
      store().revert(h, to, {.user = u, .writer = w, .request_id = id});
  const std::string print = "revert " + h + '/' + std::to_string(to);
  if (!check_replay(u, id, print, r)) return;
  if (const auto code = model_.refusal(u, h)) {
    ASSERT_FALSE(r.ok());
    return expect_code(r.error(), *code);
  }
  ASSERT_TRUE(past.ok()) << past.error().message;
  if (to < past->oldest) {
    ASSERT_FALSE(r.ok());
    return expect_code(r.error(), ErrorCode::version_gone);
  }
  ASSERT_TRUE(r.ok()) << r.error().message;
  const std::string old = m->versions[to - 1].state;
  EXPECT_TRUE(same_info(*r, model_.wrote(u, h, {old, Change::revert, w, {}})));
  model_.remember(u, id, print, *r);
}

void ModelTest::revoke_step() {
  const std::string u = user(), h = handle(u), id = request_id();
  log("revoke " + u + ' ' + h + ' ' + id);
  const auto done = store().revoke(h, {.user = u, .request_id = id});
  const std::string print = "revoke " + h;
  if (!id.empty()) {
    if (const auto expected = model_.replay(u, id, print)) {
      EXPECT_EQ(done.ok(), !expected->error.has_value());
      if (!done.ok() && expected->error)
        expect_code(done.error(), *expected->error);
      return;
    }
  }
  if (const auto code = model_.refusal(u, h)) {
    ASSERT_FALSE(done.ok());
    return expect_code(done.error(), *code);
  }
  ASSERT_TRUE(done.ok()) << done.error().message;
  model_.revoked(u, h);
  model_.remember(u, id, print, {});
}

void ModelTest::list_step() {
  const std::string u = user();
  ListOptions o{.kind = chance(30) ? "task" : "",
                .include_expired = chance(40),
                .limit = static_cast<std::uint32_t>(1 + below(30))};
  log("list " + u);
  const auto got = list(o, u);
  const auto want = model_.list(u, o.include_expired, o.kind);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(same_info(got[i], want[i])) << "at " << i;
}

void ModelTest::sweep_step() {
  const std::string u = user();
  // A clock that fell is not believed until somebody vouches for it.
  const bool accept = clock->now() < highest_ || chance(10);
  log("sweep " + u + (accept ? " accepting the clock" : ""));
  EXPECT_EQ(store().sweep(u, accept).value(), model_.sweep(u));
}

void ModelTest::time_step() {
  static const std::vector<microseconds> kMoves = {1us, 1ms,     10s,    10min,
                                                   1h,  days(1), days(3)};
  // Back by less than the grace of the cutoff, so that the model needs none.
  if (chance(25) && clock->now() + 2min > highest_)
    clock->step(-microseconds(1 + below(60'000'000)));
  else
    clock->advance(any(kMoves));
  highest_ = std::max(highest_, clock->now());
  log("now " + to_rfc3339(clock->now()));
}

/// Pushes data through the layers below; no answer may change by it.
void ModelTest::disturb_step() {
  auto& embedded = dynamic_cast<embedded::EmbeddedStore&>(store());
  switch (below(4)) {
    case 0:
      log("flush");
      return embedded.database().flush();
    case 1:
      log("compact all");
      embedded.database().compact_all();
      return learn_sweeps();
    case 2:
      log("compact what is dead");
      embedded.database().compact_dead();
      return learn_sweeps();
    default:
      log("a round of the sweeper");
      embedded.sweep_all();
      return learn_sweeps();
  }
}

/// Which expired handles the background removed is its own choice; that they
/// were expired is not.
void ModelTest::learn_sweeps() {
  for (const std::string& u : kUsers) {
    std::set<std::string> listed;
    for (const auto& info : list({.include_expired = true}, u))
      listed.insert(info.handle);
    for (const std::string& h : model_.handles(u)) {
      ModelHandle& m = *model_.find(u, h);
      if (m.revoked || m.swept || listed.contains(h)) continue;
      EXPECT_FALSE(model_.alive(m)) << h << " was swept alive";
      m.swept = true;
    }
  }
}

void ModelTest::changes_step() {
  const std::string u = user(), h = handle(u);
  log("changes " + u + ' ' + h);
  if (const auto code = model_.refusal(u, h)) {
    const auto r = store().changes_since(h, 0, u);
    ASSERT_FALSE(r.ok());
    return expect_code(r.error(), *code);
  }
  const ModelHandle& m = *model_.find(u, h);
  const std::uint64_t since = below(m.info.version + 1);
  const std::uint64_t oldest = history(h, u).oldest;
  const Changes c = changes(h, since, u);
  bool replaced = false;
  for (std::uint64_t v = since + 1; v <= m.info.version; ++v) {
    const Change what = m.versions[v - 1].what;
    replaced |= what != Change::patch && what != Change::touch;
  }
  const auto kind = since + 1 < oldest ? Changes::Kind::too_old
                    : replaced         ? Changes::Kind::replaced
                                       : Changes::Kind::changes;
  EXPECT_EQ(c.version, m.info.version);
  ASSERT_EQ(c.kind, kind) << "since " << since << ", oldest " << oldest;
  if (kind != Changes::Kind::changes) {
    EXPECT_EQ(c.state.text(), m.state());
    return;
  }
  ASSERT_EQ(c.entries.size(), m.info.version - since);
  for (const auto& entry : c.entries)
    EXPECT_EQ(entry.ops.text(), m.versions[entry.version - 1].ops.dump());
}

void ModelTest::compare_all() {
  for (const std::string& u : kUsers) {
    for (const HandleInfo& info : model_.list(u, false, "")) {
      const auto r = store().get(info.handle, {.user = u});
      ASSERT_TRUE(r.ok()) << r.error().message;
      ASSERT_TRUE(same_info(*r, info));
      ASSERT_EQ(r->state->text(), model_.find(u, info.handle)->state());
      check_history(u, info.handle);
    }
  }
}

void ModelTest::step() {
  const std::size_t dice = below(1000);
  if (dice < 60) return mint_step();
  if (dice < 160) return read_step();
  if (dice < 220) return old_version_step();
  if (dice < 320) return save_step();
  if (dice < 620) return patch_step();
  if (dice < 680) return touch_step();
  if (dice < 730) return revert_step();
  if (dice < 745) return revoke_step();
  if (dice < 805) return list_step();
  if (dice < 830) return sweep_step();
  if (dice < 920) return time_step();
  if (dice < 965) return changes_step();
  if (dice < 990) return disturb_step();
  log("reopen");
  reopen();
  compare_all();
}

void ModelTest::run(std::uint64_t seed, std::uint64_t steps) {
  random_.seed(seed);
  highest_ = clock->now();
  std::cout << "SATCHEL_SEED=" << seed << " SATCHEL_MODEL_STEPS=" << steps
            << std::endl;
  for (step_ = 1; step_ <= steps && !HasFailure(); ++step_) step();
  if (!HasFailure()) compare_all();
  if (!HasFailure()) return;
  std::string lines =
      "SATCHEL_SEED=" + std::to_string(seed) + ", the last steps:\n";
  for (const std::string& line : tail_) lines += line + '\n';
  ADD_FAILURE() << lines;
}

}  // namespace

TEST_F(ModelTest, RandomCallsAgreeWithTheModel) {
  run(from_environment("SATCHEL_SEED", std::random_device{}()),
      from_environment("SATCHEL_MODEL_STEPS", 4000));
}

TEST_F(ModelTest, ASeedThatIsAlwaysTheSame) {
  run(20260728, from_environment("SATCHEL_MODEL_STEPS", 2000));
}

}  // namespace satchel::test
