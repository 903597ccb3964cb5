// A process that writes is killed at any moment, a hundred times, on one store.
// What it had acknowledged is there, of each writer at most one call more, and
// a call that is sent again with its request id happens once.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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
/// Longest life of a writing process, in microseconds, from when it began to
/// open the store or had opened it.
constexpr int kLongestLife = 40'000;

std::string user_of(int writer) { return "writer-" + std::to_string(writer); }

/// One call of one writer; travels as a line of words. The same line is the
/// same call, request id included.
struct Call {
  int writer = 0;
  std::uint64_t number = 0;
  std::string what;           // mint save patch touch revert revoke shared
  std::string handle = "-";   // - for a mint
  std::uint64_t version = 0;  // before the call; of no meaning for shared
  std::uint64_t target = 0;   // of a revert

  std::string id() const {
    return "w" + std::to_string(writer) + "-" + std::to_string(number);
  }
  Result<Snapshot> send(HandleStore& store) const;
};

std::ostream& operator<<(std::ostream& out, const Call& c) {
  return out << c.writer << ' ' << c.number << ' ' << c.what << ' ' << c.handle
             << ' ' << c.version << ' ' << c.target;
}
std::istream& operator>>(std::istream& in, Call& c) {
  return in >> c.writer >> c.number >> c.what >> c.handle >> c.version >>
         c.target;
}

Result<Snapshot> Call::send(HandleStore& store) const {
  const auto user = user_of(writer);
  const Json state = {{"by", id()}, {"items", Json::array()}};
  if (what == "mint") {
    return store.mint("own", state,
                      {.user = user, .writer = id(), .request_id = id()});
  }
  if (what == "save") {
    return store.save(handle, state,
                      {.user = user,
                       .expect_version = version,
                       .writer = id(),
                       .request_id = id()});
  }
  if (what == "patch" || what == "shared") {
    const Json op =
        what == "patch"
            ? Json{{"op", "append"}, {"path", "items"}, {"value", id()}}
            : Json{{"op", "increment"},
                   {"path", ""},
                   {"key", user},
                   {"by", 1},
                   {"create", true}};
    return store.patch(handle, op,
                       {.user = what == "patch" ? user : "everybody",
                        .writer = id(),
                        .request_id = id()});
  }
  if (what == "touch") {
    return store.touch(handle, {.user = user,
                                .ttl = days(1 + number % 90),
                                .writer = id(),
                                .request_id = id()});
  }
  if (what == "revert") {
    return store.revert(handle, target,
                        {.user = user,
                         .expect_version = version,
                         .writer = id(),
                         .request_id = id()});
  }
  const auto revoked = store.revoke(handle, {.user = user, .request_id = id()});
  if (!revoked.ok()) return revoked.error();
  return Snapshot();
}

Options crash_options(int durability) {
  Options options;
  options.durability = static_cast<Durability>(durability);
  options.sync_interval = std::chrono::milliseconds(5);
  options.max_request_ids_per_user = 1'000'000;
  options.lock_wait = std::chrono::seconds(10);
  options.sweeper = false;
  return options;
}

// ---- the process that is killed

void tell(const char* word, const Call& call) {
  std::ostringstream line;
  line << word << ' ' << call << '\n';
  test::tell(line.str());
}

/// The next call of a writer whose last one, acknowledged, was `last`.
Call next_call(const Call& last, const std::string& own,
               const std::string& shared, std::uint64_t version,
               std::mt19937_64& random) {
  Call call = last;
  ++call.number;
  call.handle = own;
  call.version = version;
  const auto dice = random() % 16;
  if (dice < 3) {
    call.what = "shared";
    call.handle = shared;
  } else if (version == 0) {
    call.what = "mint";
    call.handle = "-";
  } else if (dice < 6) {
    call.what = "save";
  } else if (dice < 11) {
    call.what = "patch";
  } else if (dice < 13) {
    call.what = "touch";
  } else if (dice < 15 || version < 5) {
    call.what = "revert";
    call.target = version - random() % std::min<std::uint64_t>(version, 8);
  } else {
    call.what = "revoke";
  }
  return call;
}

/// Writes until the end; `own` is the writer's handle at `version` (0: none).
void write_on(HandleStore& store, Call last, std::string own,
              const std::string& shared, std::uint64_t version,
              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (;;) {
    auto call = next_call(last, own, shared, version, random);
    tell("call", call);
    const auto answer = call.send(store);
    if (!answer.ok()) {
      std::cerr << call << ": " << answer.error().to_payload() << std::endl;
      _exit(5);
    }
    last = call;
    if (call.what == "mint") own = answer->handle;
    if (call.what == "revoke") version = 0;
    if (call.what != "revoke" && call.what != "shared") {
      version = answer->version;
    }
    if (call.what == "mint") call.handle = own;
    tell("done", call);
  }
}

/// Standard input: folder, durability, life, whether that counts from before
/// the opening, seed, shared handle; then for each writer its last number, its
/// handle and version.
[[noreturn]] void writing_process() {
  std::string folder, shared;
  int durability = 0, life = 0;
  bool from_opening = false;
  std::uint64_t seed = 0;
  std::cin >> folder >> durability >> life >> from_opening >> seed >> shared;
  struct Own {
    std::uint64_t number = 0;
    std::string handle;
    std::uint64_t version = 0;
  };
  std::vector<Own> own(kWriters);
  for (auto& o : own) std::cin >> o.number >> o.handle >> o.version;
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
      const auto& o = own[static_cast<std::size_t>(w)];
      Call last;
      last.writer = w;
      last.number = o.number;
      write_on(**store, last, o.handle, shared, o.version,
               seed + static_cast<std::uint64_t>(w));
    });
  }
  // Files come and go meanwhile.
  for (;;) {
    (*store)->database().flush();
    (*store)->database().compact_all();
  }
}

// ---- what the parent knows

/// What one writer was told, and what must be there therefore.
struct Writer {
  struct Version {
    std::string id;
    std::string text;
    bool operator==(const Version&) const = default;
  };
  /// Takes note that `call` happened; `call.handle` is known.
  void happened(const Call& call) {
    number = call.number;
    last = call;
    if (call.what == "shared") {
      ++shared;
      return;
    }
    if (call.what == "revoke") {
      gone.push_back(handle);
      handle = "-";
      versions.clear();
      return;
    }
    auto state = Json{{"by", call.id()}, {"items", Json::array()}};
    if (call.what == "mint") handle = call.handle;
    if (call.what == "patch" || call.what == "touch") {
      state = Json::parse(versions.rbegin()->second.text);
    }
    if (call.what == "patch") state["items"].push_back(call.id());
    if (call.what == "revert") state = Json::parse(versions[call.target].text);
    const auto version = versions.empty() ? 1 : versions.rbegin()->first + 1;
    versions[version] = {call.id(), state.dump()};
  }
  std::uint64_t version() const {
    return versions.empty() ? 0 : versions.rbegin()->first;
  }

  std::uint64_t number = 0;
  std::string handle = "-";
  std::map<std::uint64_t, Version> versions;
  std::uint64_t shared = 0;
  std::vector<std::string> gone;
  std::optional<Call> last;     // acknowledged
  std::optional<Call> pending;  // sent, and no answer came
};

class KillTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("SATCHEL_CRASH_WRITER") != nullptr) writing_process();
    auto store = open(0);
    shared_ = store->mint("shared", Json::object(), {.user = "everybody"})
                  .value()
                  .handle;
  }

  std::unique_ptr<HandleStore> open(int durability) {
    return HandleStore::open(path_, crash_options(durability)).value();
  }

  /// This program again, as the writing process.
  Finished write_and_die(int durability, int life, bool from_opening,
                         std::uint64_t seed) {
    std::ostringstream input;
    input << path_ << ' ' << durability << ' ' << life << ' ' << from_opening
          << ' ' << seed << ' ' << shared_ << '\n';
    for (const auto& w : writers_) {
      input << w.number << ' ' << w.handle << ' ' << w.version() << '\n';
    }
    Command command;
    command.argv = {"/proc/self/exe",
                    "--gtest_filter=KillTest.EveryAcknowledgedWriteSurvives"};
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
      Call call;
      if (!(words >> word >> call) || (word != "call" && word != "done")) {
        continue;
      }
      auto& writer = writers_.at(static_cast<std::size_t>(call.writer));
      if (word == "call") {
        writer.pending = call;
      } else {
        writer.happened(call);
        writer.pending.reset();
        ++acknowledged_;
      }
    }
  }

  /// The one call more of a writer that may have happened is sent again, twice:
  /// it happens once. So is the last acknowledged one: it has happened.
  void send_again(HandleStore& store, Writer& writer) {
    if (writer.last) {
      const auto repeated = writer.last->send(store);
      EXPECT_TRUE(repeated.ok()) << repeated.error().to_payload();
    }
    if (!writer.pending) return;
    auto call = *std::exchange(writer.pending, std::nullopt);
    const auto before = happened_already(store, writer, call);
    const auto first = call.send(store);
    ASSERT_TRUE(first.ok()) << call << ": " << first.error().to_payload();
    const auto second = call.send(store);
    ASSERT_TRUE(second.ok()) << call << ": " << second.error().to_payload();
    EXPECT_EQ(first->handle, second->handle);
    EXPECT_EQ(first->version, second->version);
    if (call.what == "mint") call.handle = first->handle;
    writer.happened(call);
    ++(before ? already_ : anew_);
  }

  /// Whether the pending call took effect before the process died; anything
  /// but before or after it is a failure.
  bool happened_already(HandleStore& store, const Writer& writer,
                        const Call& call) {
    if (call.what == "shared") {
      const auto count = shared_count(store, call.writer);
      EXPECT_GE(count, writer.shared);
      EXPECT_LE(count, writer.shared + 1);
      return count > writer.shared;
    }
    const auto list = store.list(user_of(call.writer)).value();
    if (call.what == "mint" || call.what == "revoke") {
      EXPECT_LE(list.handles.size(), 1u);
      return list.handles.empty() == (call.what == "revoke");
    }
    const auto version =
        store.get(call.handle, {.user = user_of(call.writer)}).value().version;
    EXPECT_GE(version, call.version) << "the version went back";
    EXPECT_LE(version, call.version + 1);
    return version > call.version;
  }

  std::uint64_t shared_count(HandleStore& store, int writer) {
    const auto state = store.get(shared_, {.user = "everybody"}).value().state;
    return state->json().value(user_of(writer), std::uint64_t{0});
  }

  /// Exactly what the ledger says, nothing more.
  void check(HandleStore& store, int w) {
    SCOPED_TRACE(user_of(w));
    const auto& writer = writers_[static_cast<std::size_t>(w)];
    const auto user = user_of(w);
    EXPECT_EQ(shared_count(store, w), writer.shared);
    for (const auto& handle : writer.gone) {
      const auto refused = store.get(handle, {.user = user});
      ASSERT_FALSE(refused.ok()) << "a revoked handle is back";
      EXPECT_EQ(name(refused.error().code), "handle_not_found");
    }
    const auto list = store.list(user).value();
    ASSERT_EQ(list.handles.size(), writer.versions.empty() ? 0u : 1u);
    if (writer.versions.empty()) return;
    EXPECT_EQ(list.handles[0].handle, writer.handle);
    EXPECT_EQ(list.handles[0].version, writer.version());
    const auto history = store.history(writer.handle, user).value();
    EXPECT_EQ(history.versions.front().version, writer.version());
    for (const auto& version : history.versions) {
      const auto old =
          store.get(writer.handle, {.user = user, .version = version.version});
      ASSERT_TRUE(old.ok()) << old.error().to_payload();
      const auto& known = writer.versions.at(version.version);
      EXPECT_EQ(version.writer, known.id);
      EXPECT_EQ(old->state->text(), known.text);
    }
  }

  void check_all(HandleStore& store) {
    std::uint64_t sum = 1;
    for (int w = 0; w < kWriters; ++w) {
      check(store, w);
      sum += writers_[static_cast<std::size_t>(w)].shared;
    }
    EXPECT_EQ(store.get(shared_, {.user = "everybody"}).value().version, sum);
  }

  const TemporaryFolder folder_{fast_parent()};
  const std::string path_ = (folder_.path() / "store").string();
  std::string shared_;
  std::vector<Writer> writers_ = std::vector<Writer>(kWriters);
  std::uint64_t acknowledged_ = 0;
  std::uint64_t already_ = 0;
  std::uint64_t anew_ = 0;
};

TEST_F(KillTest, EveryAcknowledgedWriteSurvives) {
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
    const auto store = open(static_cast<int>(random() % 3));
    for (auto& writer : writers_) send_again(*store, writer);
    check_all(*store);
  }
  std::cout << acknowledged_ << " acknowledged; of the calls without an answer "
            << already_ << " had happened and " << anew_ << " had not"
            << std::endl;
  EXPECT_GT(acknowledged_, rounds);
  EXPECT_GT(already_ + anew_, rounds);
}

}  // namespace
}  // namespace satchel::test
