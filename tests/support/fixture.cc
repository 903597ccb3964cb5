#include "tests/support/fixture.h"

#include <stdlib.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "satchel/objects.h"

namespace satchel::test {

Time start_of_tests() {
  using namespace std::chrono;
  return sys_days(2026y / July / 28d) + 12h;
}

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent) {
  std::string name = (parent / "satchel-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("no temporary folder can be made");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void RecordingListener::on_background_error(const Error& error) {
  std::lock_guard lock(mutex_);
  background_errors_.push_back(error.message);
}
void RecordingListener::on_clock_refused(const std::string& reason) {
  std::lock_guard lock(mutex_);
  clock_refusals_.push_back(reason);
}
void RecordingListener::on_bytes_dropped(std::uint64_t bytes) {
  dropped_ += bytes;
}
void RecordingListener::on_gap(std::uint64_t bytes) { gap_ += bytes; }
void RecordingListener::on_sweep(std::uint64_t removed) { swept_ += removed; }
std::vector<std::string> RecordingListener::background_errors() const {
  std::lock_guard lock(mutex_);
  return background_errors_;
}
std::vector<std::string> RecordingListener::clock_refusals() const {
  std::lock_guard lock(mutex_);
  return clock_refusals_;
}

Backend on_disk() {
  return {"disk", true, [] {
            auto folder = std::make_shared<TemporaryFolder>();
            return [folder](Options options) {
              return HandleStore::open((folder->path() / "store").string(),
                                       std::move(options))
                  .value();
            };
          }};
}

Backend in_memory() {
  return {"memory", false, [] {
            return [](Options options) {
              return HandleStore::open("memory:", std::move(options)).value();
            };
          }};
}

const Error& check_error(const Error* error, ErrorCode code,
                         std::string_view field, std::source_location where) {
  static const Error kNone(ErrorCode::internal_error, "the call succeeded");
  const testing::ScopedTrace trace(where.file_name(),
                                   static_cast<int>(where.line()),
                                   "expect_error(" + std::string(name(code)) +
                                       ", " + std::string(field) + ")");
  if (error == nullptr) {
    ADD_FAILURE() << "the call succeeded";
    return kNone;
  }
  EXPECT_EQ(name(error->code), name(code)) << error->message;
  if (!field.empty()) {
    EXPECT_EQ(error->details.value("field", ""), field) << error->message;
  }
  EXPECT_FALSE(error->message.empty());
  EXPECT_EQ(
      error->message.find(std::filesystem::temp_directory_path().string()),
      std::string::npos)
      << "a message names a path: " << error->message;
  const Json payload = Json::parse(error->to_payload(), nullptr, false);
  EXPECT_TRUE(payload.is_object()) << error->to_payload();
  if (payload.is_object()) {
    EXPECT_EQ(payload.value("ok", true), false);
    EXPECT_EQ(payload["error"].value("code", ""), name(error->code));
  }
  return *error;
}

StoreFixture::StoreFixture(const Backend& backend)
    : backend_(backend), factory_(backend.new_place()) {
  options.clock = clock;
  options.listener = listener;
  // Tests sweep when they want to.
  options.sweeper = false;
}

void StoreFixture::close() {
  if (store_) store_->close().value();
  store_.reset();
}

void StoreFixture::reopen() {
  close();
  open();
}

void StoreFixture::saw(std::string_view user) {
  std::lock_guard lock(users_mutex_);
  if (!users_.contains(user)) users_.emplace(user);
}

template <class O>
O StoreFixture::mine(O call_options) {
  if (call_options.user.empty()) call_options.user = kUser;
  saw(call_options.user);
  return call_options;
}

Snapshot StoreFixture::mint(const JsonInput& state, MintOptions o,
                            std::string_view kind) {
  return store().mint(kind, state, mine(std::move(o))).value();
}
Snapshot StoreFixture::get(std::string_view handle, GetOptions o) {
  return store().get(handle, mine(std::move(o))).value();
}
std::string StoreFixture::text(std::string_view handle, std::string_view user) {
  return get(handle, {.user = std::string(user)}).state.value().text();
}
Snapshot StoreFixture::save(std::string_view handle, const JsonInput& state,
                            std::uint64_t expect_version, SaveOptions o) {
  o.expect_version = expect_version;
  return store().save(handle, state, mine(std::move(o))).value();
}
Snapshot StoreFixture::patch(std::string_view handle, const JsonInput& ops,
                             PatchOptions o) {
  return store().patch(handle, ops, mine(std::move(o))).value();
}
Snapshot StoreFixture::touch(std::string_view handle, Ttl ttl, TouchOptions o) {
  o.ttl = ttl;
  return store().touch(handle, mine(std::move(o))).value();
}
void StoreFixture::revoke(std::string_view handle, RevokeOptions o) {
  store().revoke(handle, mine(std::move(o))).value();
}
Snapshot StoreFixture::revert(std::string_view handle, std::uint64_t to_version,
                              RevertOptions o) {
  return store().revert(handle, to_version, mine(std::move(o))).value();
}
std::uint64_t StoreFixture::sweep(std::string_view user, bool accept_clock) {
  saw(user);
  return store().sweep(user, accept_clock).value();
}
History StoreFixture::history(std::string_view handle, std::string_view user) {
  return store().history(handle, user).value();
}
Changes StoreFixture::changes(std::string_view handle, std::uint64_t since,
                              std::string_view user) {
  return store().changes_since(handle, since, user).value();
}

std::vector<HandleInfo> StoreFixture::list(ListOptions o,
                                           std::string_view user) {
  saw(user);
  std::vector<HandleInfo> all;
  for (int page = 0; page < 100'000; ++page) {
    ListPage p = store().list(user, o).value();
    EXPECT_LE(p.handles.size(), o.limit);
    all.insert(all.end(), p.handles.begin(), p.handles.end());
    if (p.cursor.empty()) return all;
    o.cursor = p.cursor;
  }
  ADD_FAILURE() << "list never ends";
  return all;
}

std::unique_ptr<KvScope> StoreFixture::kv(std::string_view app,
                                          std::string_view user) {
  auto scope = store().scope(user, app).value();
  std::lock_guard lock(users_mutex_);
  scopes_.emplace(user, app);
  return scope;
}
Time StoreFixture::put(std::string_view key, const KvValue& value, Ttl ttl) {
  return kv()->set(key, value, {.ttl = ttl}).value();
}
std::int64_t StoreFixture::add(std::string_view key, std::int64_t by, Ttl ttl) {
  return kv()->increment(key, {.by = by, .ttl = ttl}).value();
}
std::optional<std::string> StoreFixture::value_of(std::string_view key) {
  const auto entry = kv()->get(key).value();
  if (!entry) return std::nullopt;
  return entry->value.text();
}

std::vector<KvKey> StoreFixture::keys_of(KvScope& scope, KvKeysOptions o) {
  std::vector<KvKey> all;
  for (int page = 0; page < 100'000; ++page) {
    KvPage p = scope.keys(o).value();
    EXPECT_LE(p.keys.size(), o.limit);
    all.insert(all.end(), p.keys.begin(), p.keys.end());
    if (p.cursor.empty()) return all;
    o.cursor = p.cursor;
    o.after.clear();
  }
  ADD_FAILURE() << "keys never ends";
  return all;
}
std::vector<std::string> StoreFixture::keys(KvKeysOptions o) {
  std::vector<std::string> names;
  for (const KvKey& key : keys_of(*kv(), std::move(o)))
    names.push_back(key.key);
  return names;
}

std::string StoreFixture::describe(std::string_view user,
                                   const HandleInfo& info) {
  std::string line = std::string(user) + ' ' + info.handle;
  const auto snapshot = store().get(info.handle, {.user = std::string(user)});
  if (!snapshot.ok()) {
    // Thirty days after its expiry a handle is listed until a sweep, but reads
    // as if it had never been.
    EXPECT_TRUE(snapshot.error().code == ErrorCode::handle_expired ||
                snapshot.error().code == ErrorCode::handle_not_found)
        << snapshot.error().message;
    return line + ' ' + snapshot.error().to_payload();
  }
  EXPECT_TRUE(same_info(info, *snapshot));
  line += ' ' + to_object(*snapshot);
  const History past = history(info.handle, user);
  EXPECT_GE(past.oldest, 1u);
  EXPECT_EQ(past.versions.size(), info.version - past.oldest + 1);
  std::uint64_t expected = info.version;
  for (const VersionInfo& v : past.versions)
    EXPECT_EQ(v.version, expected--) << "a gap in the history of " << line;
  return line + ' ' + to_object(past);
}

void StoreFixture::describe_scope(KvScope& scope,
                                  std::vector<std::string>* lines) {
  const KvUsage usage = scope.usage().value();
  const auto keys = keys_of(scope);
  std::uint64_t bytes = 0;
  constexpr std::size_t kAtOnce = 100;
  for (std::size_t from = 0; from < keys.size(); from += kAtOnce) {
    std::vector<std::string> names;
    const auto to = std::min(keys.size(), from + kAtOnce);
    for (auto i = from; i < to; ++i) names.push_back(keys[i].key);
    const auto entries = scope.mget(names).value();
    EXPECT_EQ(entries.size(), names.size()) << "a key has no value";
    for (auto i = from; i < to; ++i) {
      const auto entry = entries.find(keys[i].key);
      if (entry == entries.end()) continue;
      EXPECT_EQ(entry->second.expires_at, keys[i].expires_at);
      EXPECT_GT(keys[i].expires_at, clock->now());
      bytes += keys[i].key.size() + entry->second.value.size_bytes();
      lines->push_back(usage.user + ' ' + usage.app + ' ' + keys[i].key + ' ' +
                       to_rfc3339(keys[i].expires_at) + ' ' +
                       entry->second.value.text());
    }
  }
  EXPECT_EQ(usage.used_bytes, bytes) << "of " << usage.user << ' ' << usage.app;
  EXPECT_EQ(usage.key_count, keys.size());
}

std::vector<std::string> StoreFixture::describe() {
  std::vector<std::string> lines;
  for (const std::string& user : users_) {
    for (const HandleInfo& info : list({.include_expired = true}, user))
      lines.push_back(describe(user, info));
  }
  for (const auto& [user, app] : std::set(scopes_))
    describe_scope(*kv(app, user), &lines);
  return lines;
}

void StoreFixture::verify() {
  if (!verify_at_end_) return;
  const testing::ScopedTrace trace(__FILE__, __LINE__, "verifying the store");
  if (!store_) open();
  const auto before = describe();
  EXPECT_EQ(listener->background_errors(), std::vector<std::string>());
  if (!backend_.keeps) return close();
  reopen();
  EXPECT_EQ(describe(), before) << "a reopen changed the store";
  close();
}

testing::AssertionResult same_info(const HandleInfo& a, const HandleInfo& b) {
  const auto line = [](const HandleInfo& info) {
    Snapshot s;
    static_cast<HandleInfo&>(s) = info;
    return to_object(s);
  };
  if (line(a) == line(b)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << line(a) << "\n  is not\n" << line(b);
}

}  // namespace satchel::test
