// Random key-value calls against a plain map that knows deadlines and limits,
// with clocks that step, flushes, compactions and reopens. A run is reproduced
// with SATCHEL_SEED; SATCHEL_MODEL_STEPS makes it longer.

#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <random>

#include "api/embedded/embedded_store.h"
#include "satchel/objects.h"
#include "tests/support/fixture.h"

namespace satchel::test {
namespace {

std::uint64_t from_environment(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value && *value ? std::strtoull(value, nullptr, 10) : otherwise;
}

constexpr std::int64_t kMost = (std::int64_t{1} << 53) - 1;

struct Entry {
  std::string text;
  Time deadline;
};
/// Of one scope; expired entries stay in it.
using Entries = std::map<std::string, Entry>;

class KvModelTest : public StoreTest {
 protected:
  void run(std::uint64_t seed, std::uint64_t steps);

 private:
  struct Scope {
    std::string user, app;
    Entries entries;
  };

  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(int percent) { return below(100) < std::size_t(percent); }
  template <class T>
  const T& any(const std::vector<T>& v) {
    return v[below(v.size())];
  }
  Scope& scope() { return scopes_[below(scopes_.size())]; }
  std::string key() {
    static const std::vector<std::string> kKeys = {
        "p",  "p:",  "p:1", "p:2", "p:10",      "p:1:x",
        "pp", "q/1", "q/2", "a",   "__proto__", std::string(60, 'k')};
    return any(kKeys);
  }
  std::string prefix() {
    static const std::vector<std::string> kPrefixes = {"",  "p",  "p:", "p:1",
                                                       "q", "zz", "a",  "k"};
    return any(kPrefixes);
  }
  std::string value();
  microseconds ttl() {
    static const std::vector<microseconds> kTtls = {1ms, 1min,    5min,    1h,
                                                    6h,  days(2), days(90)};
    return any(kTtls);
  }

  Time now() {
    const auto& db = dynamic_cast<embedded::EmbeddedStore&>(store()).database();
    return std::max(clock->now(), Time(microseconds(db.cutoff())));
  }
  bool alive(const Entry& entry) { return entry.deadline > now(); }
  const Entry* find(const Scope& s, const std::string& k) {
    const auto it = s.entries.find(k);
    return it != s.entries.end() && alive(it->second) ? &it->second : nullptr;
  }
  std::uint64_t used(const Scope& s) {
    std::uint64_t bytes = 0;
    for (const auto& [k, entry] : s.entries)
      if (alive(entry)) bytes += k.size() + entry.text.size();
    return bytes;
  }
  bool fits(const Scope& s, const std::string& k, std::size_t size) {
    const Entry* old = find(s, k);
    const auto before = old ? k.size() + old->text.size() : 0;
    const auto bytes = k.size() + size;
    return bytes <= before ||
           used(s) - before + bytes <= options.kv_max_scope_bytes;
  }
  void log(const Scope& s, const std::string& line) {
    tail_.push_back(std::to_string(step_) + ": " + s.user + '+' + s.app + ' ' +
                    line);
    if (tail_.size() > 40) tail_.pop_front();
  }
  template <class T>
  void expect(const Result<T>& result, std::optional<ErrorCode> code) {
    if (code) {
      expect_error(result, *code);
    } else {
      EXPECT_TRUE(result.ok()) << result.error().message;
    }
  }

  void step();
  void set_step(Scope& s);
  void count_step(Scope& s);
  void remove_step(Scope& s);
  void read_step(Scope& s);
  void page_step(Scope& s);
  void time_step();
  void disturb_step();
  void reopen_step();
  void compare(Scope& s);

  std::mt19937_64 random_;
  std::vector<Scope> scopes_ = {
      {"a", "bc", {}}, {"ab", "c", {}}, {"a", "b", {}}};
  std::deque<std::string> tail_;
  std::uint64_t step_ = 0;
};

std::string KvModelTest::value() {
  switch (below(8)) {
    case 0:
      return "null";
    case 1:
      return "1.5";
    case 2:
      return R"({"a":[true,"é"]})";
    case 3:
      return std::to_string(kMost - 1);
    case 4:
      return std::to_string(below(100));
    default:
      return '"' + std::string(below(110), 'v') + '"';
  }
}

void KvModelTest::set_step(Scope& s) {
  const auto k = key(), v = value();
  const auto t = ttl();
  const Entry* old = find(s, k);
  KvSetOptions o{.ttl = t};
  std::optional<ErrorCode> code;
  bool too_large = v.size() > options.kv_max_value_bytes;
  if (chance(20)) {
    o.if_absent = true;
    if (old) code = ErrorCode::condition_failed;
  } else if (chance(20)) {
    const auto expected = old && chance(70) ? old->text : value();
    o.expect_value = KvValue(Document::parse(expected));
    if (!old || old->text != expected) code = ErrorCode::condition_failed;
    too_large |= expected.size() > options.kv_max_value_bytes;
  }
  if (!code && !fits(s, k, v.size())) code = ErrorCode::quota_exceeded;
  if (too_large) code = ErrorCode::value_too_large;
  log(s, "set " + k + ' ' + v + ' ' + std::to_string(t.count()) +
             (o.if_absent ? " if absent" : "") +
             (o.expect_value ? " if equal" : ""));
  const auto deadline = now() + t;
  const auto result =
      kv(s.app, s.user)->set(k, Document::parse(v), std::move(o));
  expect(result, code);
  if (!result.ok()) return;
  EXPECT_EQ(*result, deadline);
  s.entries[k] = {v, deadline};
}

void KvModelTest::count_step(Scope& s) {
  const auto k = key();
  const auto t = ttl();
  const auto by = chance(10) ? kMost : static_cast<std::int64_t>(below(30)) - 9;
  const bool down = chance(30);
  std::int64_t sum = 0;
  std::optional<ErrorCode> code;
  if (const Entry* old = find(s, k)) {
    const auto tree = Json::parse(old->text);
    if (tree.is_number_integer())
      sum = tree.get<std::int64_t>();
    else
      code = ErrorCode::type_mismatch;
  }
  sum += down ? -by : by;
  const auto text = std::to_string(sum);
  if (!code && (sum > kMost || sum < -kMost)) code = ErrorCode::invalid_input;
  if (!code && !fits(s, k, text.size())) code = ErrorCode::quota_exceeded;
  log(s, (down ? "decrement " : "increment ") + k + " by " +
             std::to_string(by) + ' ' + std::to_string(t.count()));
  const auto deadline = now() + t;
  const auto scope = kv(s.app, s.user);
  const KvCounterOptions o{.by = by, .ttl = t};
  const auto result = down ? scope->decrement(k, o) : scope->increment(k, o);
  expect(result, code);
  if (!result.ok()) return;
  EXPECT_EQ(*result, sum);
  s.entries[k] = {text, deadline};
}

void KvModelTest::remove_step(Scope& s) {
  if (chance(70)) {
    const auto k = key();
    log(s, "remove " + k);
    EXPECT_EQ(kv(s.app, s.user)->remove(k).value(), find(s, k) != nullptr);
    if (find(s, k)) s.entries.erase(k);
    return;
  }
  const auto p = prefix();
  log(s, "remove prefix " + p);
  const auto count = std::erase_if(s.entries, [&](const auto& entry) {
    return entry.first.starts_with(p) && alive(entry.second);
  });
  EXPECT_EQ(kv(s.app, s.user)->remove_prefix(p).value(), count);
}

void KvModelTest::read_step(Scope& s) {
  const auto k = key();
  log(s, "get " + k);
  const auto scope = kv(s.app, s.user);
  const Entry* expected = find(s, k);
  const auto entry = scope->get(k).value();
  EXPECT_EQ(scope->has(k).value(), expected != nullptr);
  EXPECT_EQ(scope->mget({k, "none"}).value().size(), expected ? 1u : 0u);
  ASSERT_EQ(entry.has_value(), expected != nullptr);
  if (!expected) return;
  EXPECT_EQ(entry->value.text(), expected->text);
  EXPECT_EQ(entry->expires_at, expected->deadline);
}

void KvModelTest::page_step(Scope& s) {
  const KvKeysOptions o{.prefix = prefix(),
                        .limit = static_cast<std::uint32_t>(1 + below(8))};
  log(s, "keys " + o.prefix);
  std::vector<std::string> expected;
  for (const auto& [k, entry] : s.entries)
    if (k.starts_with(o.prefix) && alive(entry)) expected.push_back(k);
  std::vector<std::string> got;
  for (const auto& k : keys_of(*kv(s.app, s.user), o)) {
    got.push_back(k.key);
    EXPECT_EQ(k.expires_at, s.entries[k.key].deadline);
  }
  EXPECT_EQ(got, expected);
}

/// Back by more than the cutoff's grace too: then the cutoff is the time.
void KvModelTest::time_step() {
  static const std::vector<microseconds> kMoves = {
      1us, 999us, 1ms, 1min, 5min, 1h, 5h, days(1), -1us, -1min, -20min, -3h};
  const auto move = any(kMoves);
  if (move > 0us)
    clock->advance(move);
  else
    clock->step(move);
  log(scopes_[0], "the time is " + to_rfc3339(clock->now()));
}

void KvModelTest::disturb_step() {
  auto& embedded = dynamic_cast<embedded::EmbeddedStore&>(store());
  const auto what = below(5);
  log(scopes_[0], "disturbance " + std::to_string(what));
  switch (what) {
    case 0:
      return embedded.database().flush();
    case 1:
      return embedded.database().compact_all();
    case 2:
      return embedded.database().compact_dead();
    case 3:
      return embedded.sweep_all();
    default:
      sweep(kUser, true);
  }
}

void KvModelTest::reopen_step() {
  static const std::vector<std::size_t> kLimits = {200, 400, 400, 700};
  options.kv_max_scope_bytes = any(kLimits);
  options.index_bytes = chance(30) ? 0 : std::size_t{1} << 20;
  log(scopes_[0],
      "reopen, limit " + std::to_string(options.kv_max_scope_bytes));
  reopen();
  for (auto& s : scopes_) compare(s);
}

void KvModelTest::compare(Scope& s) {
  const auto scope = kv(s.app, s.user);
  std::vector<std::string> expected, got;
  for (const auto& [k, entry] : s.entries)
    if (alive(entry)) expected.push_back(k + ' ' + entry.text);
  for (const auto& k : keys_of(*scope)) {
    const auto entry = scope->get(k.key).value();
    ASSERT_TRUE(entry.has_value()) << k.key;
    got.push_back(k.key + ' ' + entry->value.text());
  }
  EXPECT_EQ(got, expected);
  const auto usage = scope->usage().value();
  EXPECT_EQ(usage.used_bytes, used(s));
  EXPECT_EQ(usage.key_count, expected.size());
  EXPECT_EQ(usage.limit_bytes, options.kv_max_scope_bytes);
}

void KvModelTest::step() {
  auto& s = scope();
  const auto dice = below(1000);
  if (dice < 350) return set_step(s);
  if (dice < 520) return count_step(s);
  if (dice < 600) return remove_step(s);
  if (dice < 720) return read_step(s);
  if (dice < 780) return page_step(s);
  if (dice < 850) return compare(s);
  if (dice < 960) return time_step();
  if (dice < 990) return disturb_step();
  reopen_step();
}

void KvModelTest::run(std::uint64_t seed, std::uint64_t steps) {
  random_.seed(seed);
  std::cout << "SATCHEL_SEED=" << seed << " SATCHEL_MODEL_STEPS=" << steps
            << std::endl;
  options.durability = Durability::os;
  options.kv_max_scope_bytes = 400;
  options.kv_max_value_bytes = 100;
  reopen();
  for (step_ = 1; step_ <= steps && !HasFailure(); ++step_) step();
  for (auto& s : scopes_)
    if (!HasFailure()) compare(s);
  if (!HasFailure()) return;
  std::string lines =
      "SATCHEL_SEED=" + std::to_string(seed) + ", the last steps:\n";
  for (const std::string& line : tail_) lines += line + '\n';
  ADD_FAILURE() << lines;
}

TEST_F(KvModelTest, RandomCallsAgreeWithTheModel) {
  run(from_environment("SATCHEL_SEED", std::random_device{}()),
      from_environment("SATCHEL_MODEL_STEPS", 6000));
}

TEST_F(KvModelTest, ASeedThatIsAlwaysTheSame) {
  run(20260729, from_environment("SATCHEL_MODEL_STEPS", 3000));
}

}  // namespace
}  // namespace satchel::test
