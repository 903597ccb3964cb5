// A process that changes key-value scopes is killed at any moment, a hundred
// times, on one store. What it had acknowledged is there, of each writer at
// most one call more; counters never go back, everything expires, and the usage
// is what is there.

#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "storage/database.h"
#include "tests/crash/dying.h"
#include "tests/crash/scenario.h"
#include "tests/support/process.h"

namespace satchel::test {
namespace {

constexpr int kWriters = 4;
constexpr int kLongestLife = 40'000;  // microseconds
constexpr std::size_t kScopeBytes = 2'000;
constexpr auto kTtl = 6h;

std::string app_of(int writer) { return "app-" + std::to_string(writer); }

/// One call of one writer; travels as a line of words.
struct Call {
  int writer = 0;
  std::uint64_t number = 0;
  std::string what;       // set remove prefix count shared
  std::string key = "-";  // or the prefix
  std::size_t size = 0;   // of the value that is set

  /// As JSON text of `size` bytes and the number.
  std::string value() const {
    const auto digits = std::to_string(number);
    return '"' + digits + std::string(size, 'v') + '"';
  }
  /// What the call gives; a removal that found nothing is none.
  Result<std::int64_t> send(HandleStore& store) const;
};

std::ostream& operator<<(std::ostream& out, const Call& c) {
  return out << c.writer << ' ' << c.number << ' ' << c.what << ' ' << c.key
             << ' ' << c.size;
}
std::istream& operator>>(std::istream& in, Call& c) {
  return in >> c.writer >> c.number >> c.what >> c.key >> c.size;
}

Result<std::int64_t> Call::send(HandleStore& store) const {
  const auto scope =
      store.scope("alice", what == "shared" ? "shared" : app_of(writer))
          .value();
  if (what == "set") {
    const auto set = scope->set(key, Document::parse(value()), {.ttl = kTtl});
    if (!set.ok()) return set.error();
    return std::int64_t{0};
  }
  if (what == "remove") {
    const auto removed = scope->remove(key);
    if (!removed.ok()) return removed.error();
    return std::int64_t{*removed};
  }
  if (what == "prefix") {
    const auto removed = scope->remove_prefix(key);
    if (!removed.ok()) return removed.error();
    return static_cast<std::int64_t>(*removed);
  }
  return scope->increment(key, {.ttl = kTtl});
}

/// What one writer's scope holds, as far as the writer was told.
struct Ledger {
  std::map<std::string, std::string> entries;

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [key, value] : entries) sum += key.size() + value.size();
    return sum;
  }
  bool operator==(const Ledger&) const = default;

  /// Makes the change of `call`; false when it does not fit.
  bool apply(const Call& call) {
    if (call.what == "remove") {
      entries.erase(call.key);
    } else if (call.what == "prefix") {
      std::erase_if(entries, [&](const auto& entry) {
        return entry.first.starts_with(call.key);
      });
    } else {
      auto value = call.value();
      if (call.what == "count") {
        const auto it = entries.find(call.key);
        const auto sum = it == entries.end() ? 1 : std::stoll(it->second) + 1;
        value = std::to_string(sum);
      }
      auto after = *this;
      after.entries[call.key] = value;
      if (after.bytes() > kScopeBytes && after.bytes() > bytes()) return false;
      *this = std::move(after);
    }
    return true;
  }
};

Options crash_options(int durability) {
  Options options;
  options.durability = static_cast<Durability>(durability);
  options.sync_interval = std::chrono::milliseconds(5);
  options.kv_max_scope_bytes = kScopeBytes;
  options.lock_wait = std::chrono::seconds(10);
  options.sweeper = false;
  return options;
}

// ---- the process that is killed

Call next_call(int writer, std::uint64_t number, std::mt19937_64& random) {
  Call call;
  call.writer = writer;
  call.number = number;
  const auto dice = random() % 20;
  call.key = "k:" + std::to_string(random() % 12);
  if (dice < 9) {
    call.what = "set";
    call.size = random() % 400;
  } else if (dice < 12) {
    call.what = "count";
    call.key = "n:" + std::to_string(random() % 3);
  } else if (dice < 15) {
    call.what = "shared";
    call.key = "n";
  } else if (dice < 19) {
    call.what = "remove";
  } else {
    call.what = "prefix";
    if (random() % 2 == 0) call.key = "k:1";
  }
  return call;
}

void write_on(HandleStore& store, int writer, std::uint64_t number,
              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (;;) {
    std::ostringstream line;
    const auto call = next_call(writer, ++number, random);
    line << call << '\n';
    tell("call " + line.str());
    const auto answer = call.send(store);
    if (answer.ok()) {
      tell("done " + std::to_string(*answer) + ' ' + line.str());
    } else if (answer.error().code == ErrorCode::quota_exceeded) {
      tell("full 0 " + line.str());
    } else {
      std::cerr << call << ": " << answer.error().to_payload() << std::endl;
      _exit(5);
    }
  }
}

/// Standard input: folder, durability, life, whether that counts from before
/// the opening, seed, the last number of each writer.
[[noreturn]] void writing_process() {
  std::string folder;
  int durability = 0, life = 0;
  bool from_opening = false;
  std::uint64_t seed = 0;
  std::vector<std::uint64_t> numbers(kWriters);
  std::cin >> folder >> durability >> life >> from_opening >> seed;
  for (auto& number : numbers) std::cin >> number;
  if (!std::cin) _exit(6);
  std::cout.flush();
  if (from_opening) die_after(life);
  auto store = embedded::open(folder, crash_options(durability));
  if (!store.ok()) {
    std::cerr << store.error().to_payload() << std::endl;
    _exit(7);
  }
  if (!from_opening) die_after(life);
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      write_on(**store, w, numbers[static_cast<std::size_t>(w)],
               seed + static_cast<std::uint64_t>(w));
    });
  }
  for (;;) {
    (*store)->database().flush();
    (*store)->database().compact_all();
  }
}

// ---- what the parent knows

struct Writer {
  std::uint64_t number = 0;
  Ledger ledger;
  std::optional<Call> pending;  // sent, and no answer came
};

class KvKillTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("SATCHEL_CRASH_WRITER") != nullptr) writing_process();
  }

  Finished write_and_die(int durability, int life, bool from_opening,
                         std::uint64_t seed) {
    std::ostringstream input;
    input << path_ << ' ' << durability << ' ' << life << ' ' << from_opening
          << ' ' << seed << '\n';
    for (const auto& w : writers_) input << w.number << '\n';
    Command command;
    command.argv = {"/proc/self/exe",
                    "--gtest_filter=KvKillTest.UsageIsARecountAfterEveryKill"};
    command.env["SATCHEL_CRASH_WRITER"] = "1";
    command.input = input.str();
    return run(command);
  }

  /// Takes in what the process said before it died.
  void hear(const std::string& said) {
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      std::int64_t answer = 0;
      Call call;
      words >> word;
      if (word != "call" && word != "done" && word != "full") continue;
      if (word != "call") words >> answer;
      if (!(words >> call)) continue;
      auto& writer = writers_.at(static_cast<std::size_t>(call.writer));
      writer.number = call.number;
      writer.pending = call;
      if (word == "call") continue;
      writer.pending.reset();
      ++acknowledged_;
      acknowledge(writer, call, word == "full", answer);
    }
  }

  void acknowledge(Writer& writer, const Call& call, bool full,
                   std::int64_t answer) {
    if (call.what == "shared") {
      EXPECT_FALSE(full);
      EXPECT_TRUE(shared_.insert(answer).second)
          << "the value " << answer << " was returned twice";
      return;
    }
    const auto before = writer.ledger.entries;
    EXPECT_EQ(writer.ledger.apply(call), !full) << call;
    full_ += full;
    if (call.what == "count" && !full) {
      EXPECT_EQ(writer.ledger.entries.at(call.key), std::to_string(answer));
    } else if (call.what != "set" && !full) {
      const auto gone = before.size() - writer.ledger.entries.size();
      EXPECT_EQ(static_cast<std::int64_t>(gone), answer) << call;
    }
  }

  /// The scope as keys, values and usage tell it.
  static Ledger read(HandleStore& store, const std::string& app) {
    SCOPED_TRACE(app);
    Ledger ledger;
    const auto scope = store.scope("alice", app).value();
    const auto usage = scope->usage().value();
    const auto page = scope->keys().value();
    const auto now = system_clock()->now();
    EXPECT_EQ(page.cursor, "");
    for (const auto& key : page.keys) {
      EXPECT_GT(key.expires_at, now);
      EXPECT_LE(key.expires_at, now + kTtl) << "outlives its ttl";
      const auto entry = scope->get(key.key).value();
      if (!entry) {
        ADD_FAILURE() << key.key << " has no value";
        continue;
      }
      EXPECT_EQ(entry->expires_at, key.expires_at);
      ledger.entries[key.key] = entry->value.text();
    }
    EXPECT_EQ(usage.used_bytes, ledger.bytes()) << "usage is no recount";
    EXPECT_EQ(usage.key_count, ledger.entries.size());
    EXPECT_LE(usage.used_bytes, kScopeBytes);
    return ledger;
  }

  /// What is there is what was acknowledged, with or without the pending call.
  void check(HandleStore& store, int w) {
    auto& writer = writers_[static_cast<std::size_t>(w)];
    const auto found = read(store, app_of(w));
    auto with_pending = writer.ledger;
    if (writer.pending && writer.pending->what != "shared")
      with_pending.apply(*writer.pending);
    EXPECT_TRUE(found == writer.ledger || found == with_pending)
        << app_of(w) << " holds " << Json(found.entries).dump()
        << "\nand was told " << Json(writer.ledger.entries).dump();
    if (found == with_pending && found != writer.ledger) ++already_;
    writer.ledger = found;
  }

  void check_shared(HandleStore& store) {
    const auto entries = read(store, "shared").entries;
    const auto it = entries.find("n");
    const auto count = it == entries.end() ? 0 : std::stoll(it->second);
    const auto most = shared_.empty() ? 0 : *shared_.rbegin();
    int unanswered = 0;
    for (const auto& w : writers_)
      unanswered += w.pending && w.pending->what == "shared";
    EXPECT_GE(count, most) << "the counter went back";
    // Every value up to it was returned, or is of a call without an answer.
    for (auto n = shared_floor_ + 1; n <= count; ++n)
      unanswered -= !shared_.contains(n);
    EXPECT_GE(unanswered, 0) << "the counter counted what nobody sent";
    for (auto n = shared_floor_ + 1; n <= count; ++n) shared_.insert(n);
    shared_floor_ = count;
  }

  void check_all(HandleStore& store) {
    check_shared(store);
    for (int w = 0; w < kWriters; ++w) check(store, w);
    for (auto& writer : writers_) writer.pending.reset();
  }

  const TemporaryFolder folder_{fast_parent()};
  const std::string path_ = (folder_.path() / "store").string();
  std::vector<Writer> writers_ = std::vector<Writer>(kWriters);
  /// Values of the shared counter that were returned, or belong to calls that
  /// were not answered: all up to the floor.
  std::set<std::int64_t> shared_;
  std::int64_t shared_floor_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t already_ = 0;
  std::uint64_t full_ = 0;
};

TEST_F(KvKillTest, UsageIsARecountAfterEveryKill) {
  const auto rounds = from_environment("SATCHEL_CRASH_ROUNDS", 100);
  const auto seed =
      from_environment("SATCHEL_CRASH_SEED", std::random_device{}());
  std::cout << "SATCHEL_CRASH_SEED=" << seed << std::endl;
  std::mt19937_64 random(seed);
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto life = 1 + static_cast<int>(random() % kLongestLife);
    const bool from_opening = random() % 4 == 0;
    const auto died = write_and_die(static_cast<int>(round % 3), life,
                                    from_opening, random());
    ASSERT_EQ(died.signal, SIGKILL) << died.out << died.err;
    EXPECT_EQ(died.err, "");
    hear(died.out);
    const auto store =
        HandleStore::open(path_, crash_options(static_cast<int>(random() % 3)))
            .value();
    check_all(*store);
  }
  std::cout << acknowledged_ << " acknowledged, " << full_
            << " of them refused; " << already_
            << " of the calls without an answer had happened" << std::endl;
  EXPECT_GT(acknowledged_, rounds);
  EXPECT_GT(full_, 0u);
}

}  // namespace
}  // namespace satchel::test
