#pragma once
// What the tests over HandleStore share: a clock that is set by hand, a folder
// that goes away, a listener that remembers, and a fixture whose words are the
// store's calls. The fixture verifies the whole store when a test ends.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "satchel/store.h"

namespace satchel::test {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::microseconds;

/// JSON text as an argument of a call.
inline JsonInput operator""_j(const char* text, std::size_t size) {
  return JsonInput(Document::parse(std::string_view(text, size)));
}

/// 2026-07-28T12:00:00Z, where every TestClock starts.
Time start_of_tests();

/// Thread-safe; wall and monotonic time move only when told to.
class TestClock : public Clock {
 public:
  Time now() const override { return Time(microseconds(wall_.load())); }
  microseconds monotonic() const override {
    return microseconds(monotonic_.load());
  }
  /// Time passes.
  void advance(microseconds d) {
    wall_ += d.count();
    monotonic_ += d.count();
  }
  /// Somebody sets the wall clock.
  void set(Time t) { wall_ = t.time_since_epoch().count(); }
  void step(microseconds d) { wall_ += d.count(); }

 private:
  std::atomic<std::int64_t> wall_{start_of_tests().time_since_epoch().count()};
  std::atomic<std::int64_t> monotonic_{1'000'000};
};

/// A new empty folder, removed with everything in it at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent =
                               std::filesystem::temp_directory_path());
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Remembers what the store reported. Thread-safe.
class RecordingListener : public Listener {
 public:
  void on_background_error(const Error& error) override;
  void on_clock_refused(const std::string& reason) override;
  void on_bytes_dropped(std::uint64_t bytes) override;
  void on_gap(std::uint64_t bytes) override;
  void on_sweep(std::uint64_t removed) override;

  std::vector<std::string> background_errors() const;
  std::vector<std::string> clock_refusals() const;
  std::uint64_t dropped_bytes() const { return dropped_; }
  std::uint64_t gap_bytes() const { return gap_; }
  std::uint64_t swept() const { return swept_; }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> background_errors_;
  std::vector<std::string> clock_refusals_;
  std::atomic<std::uint64_t> dropped_{0}, gap_{0}, swept_{0};
};

/// Opens one place; throws the Error when that is refused.
using Factory = std::function<std::unique_ptr<HandleStore>(Options)>;

/// An implementation of HandleStore, for the tests that run over several.
struct Backend {
  std::string name;
  /// Whether a place that is opened again holds what it held.
  bool keeps = true;
  /// A Factory for a new, empty place, which lives as long as the Factory.
  std::function<Factory()> new_place;
};
Backend on_disk();
Backend in_memory();

inline constexpr const char* kUser = "alice";
inline constexpr const char* kApp = "app";

/// Checks that `result` is an Error with this code (and `field` in its details
/// unless empty) that is fit to be shown, and returns it.
const Error& check_error(const Error* error, ErrorCode code,
                         std::string_view field, std::source_location where);
template <class T>
Error expect_error(
    const Result<T>& result, ErrorCode code, std::string_view field = {},
    std::source_location where = std::source_location::current()) {
  return check_error(result.ok() ? nullptr : &result.error(), code, field,
                     where);
}

/// The same for a key-value call, with the original's code; empty: none.
template <class T>
Error expect_kv_error(
    const Result<T>& result, ErrorCode code, std::string_view kv_code,
    std::string_view field = {},
    std::source_location where = std::source_location::current()) {
  auto error = expect_error(result, code, field, where);
  const testing::ScopedTrace trace(where.file_name(),
                                   static_cast<int>(where.line()), "kv_code");
  EXPECT_EQ(error.details.value("kv_code", ""), kv_code) << error.to_payload();
  return error;
}

/// The store of one test. Words throw the Error of a call that is refused
/// (which fails the test), and act for kUser unless the options name another.
/// Words are thread-safe; open, close and reopen are not.
class StoreFixture {
 public:
  explicit StoreFixture(const Backend& backend);
  virtual ~StoreFixture() = default;

  HandleStore& store() { return *store_; }
  void open() { store_ = factory_(options); }
  /// Closes and destroys the store.
  void close();
  /// Closes and opens again; only where Backend::keeps.
  void reopen();

  Snapshot mint(const JsonInput& state, MintOptions options = {},
                std::string_view kind = "note");
  Snapshot get(std::string_view handle, GetOptions options = {});
  /// The canonical text of the current state.
  std::string text(std::string_view handle, std::string_view user = kUser);
  Snapshot save(std::string_view handle, const JsonInput& state,
                std::uint64_t expect_version, SaveOptions options = {});
  Snapshot patch(std::string_view handle, const JsonInput& ops,
                 PatchOptions options = {});
  Snapshot touch(std::string_view handle, Ttl ttl, TouchOptions options = {});
  void revoke(std::string_view handle, RevokeOptions options = {});
  Snapshot revert(std::string_view handle, std::uint64_t to_version,
                  RevertOptions options = {});
  std::uint64_t sweep(std::string_view user = kUser, bool accept_clock = false);
  History history(std::string_view handle, std::string_view user = kUser);
  Changes changes(std::string_view handle, std::uint64_t since,
                  std::string_view user = kUser);
  /// All pages.
  std::vector<HandleInfo> list(ListOptions options = {},
                               std::string_view user = kUser);
  void advance(microseconds d) { clock->advance(d); }

  /// A key-value scope, not to be kept over a close.
  std::unique_ptr<KvScope> kv(std::string_view app = kApp,
                              std::string_view user = kUser);
  // Of the scope (kUser, kApp):
  Time put(std::string_view key, const KvValue& value, Ttl ttl = 1h);
  std::int64_t add(std::string_view key, std::int64_t by = 1, Ttl ttl = 1h);
  /// The canonical text; none when the key is not there.
  std::optional<std::string> value_of(std::string_view key);
  std::uint64_t used_bytes() { return kv()->usage().value().used_bytes; }
  /// All pages.
  std::vector<KvKey> keys_of(KvScope& scope, KvKeysOptions options = {});
  /// The names alone.
  std::vector<std::string> keys(KvKeysOptions options = {});

  /// Checks that everything that is listed reads back whole, that the usage of
  /// every scope is what its entries take, and that a reopen changes nothing of
  /// it. Called at the end of every test.
  void verify();

  std::shared_ptr<TestClock> clock = std::make_shared<TestClock>();
  std::shared_ptr<RecordingListener> listener =
      std::make_shared<RecordingListener>();
  /// For the next open.
  Options options;

 protected:
  /// Set by a test whose store cannot be verified.
  bool verify_at_end_ = true;
  const Backend backend_;

 private:
  template <class O>
  O mine(O call_options);
  void saw(std::string_view user);
  std::vector<std::string> describe();
  std::string describe(std::string_view user, const HandleInfo& info);
  void describe_scope(KvScope& scope, std::vector<std::string>* lines);

  Factory factory_;
  std::unique_ptr<HandleStore> store_;
  std::mutex users_mutex_;
  std::set<std::string, std::less<>> users_;
  /// User and app.
  std::set<std::pair<std::string, std::string>> scopes_;
};

/// A test with a store on disk that is open.
class StoreTest : public testing::Test, public StoreFixture {
 protected:
  StoreTest() : StoreFixture(on_disk()) {}
  void SetUp() override { open(); }
  void TearDown() override { verify(); }
};

/// Members that every call must answer alike for one version.
testing::AssertionResult same_info(const HandleInfo& a, const HandleInfo& b);

}  // namespace satchel::test
