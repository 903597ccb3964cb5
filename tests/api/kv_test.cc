// Key-value scopes of a store on disk: reopened, read-only, missing.

#include <filesystem>

#include "tests/support/fixture.h"

namespace satchel::test {
namespace {

class KvTest : public StoreTest {
 protected:
  void fill() {
    put("a", R"({"n":[1,null]})"_j);
    put("b", 2, days(90));
    put("short", 3, 1min);
    add("count", 41);
    EXPECT_TRUE(kv()->set("gone", 1, {.ttl = 1h}).ok());
    EXPECT_TRUE(kv()->remove("gone").value());
  }
  void expect_filled() {
    EXPECT_EQ(keys(), (std::vector<std::string>{"a", "b", "count"}));
    EXPECT_EQ(value_of("a"), R"({"n":[1,null]})");
    EXPECT_EQ(value_of("b"), "2");
    EXPECT_EQ(value_of("count"), "41");
    EXPECT_EQ(kv()->mget({"a", "b", "short", "gone"}).value().size(), 2u);
    EXPECT_TRUE(kv()->has("count").value());
    EXPECT_FALSE(kv()->has("gone").value());
    EXPECT_EQ(used_bytes(), 1u + 14u + 2u + 5u + 2u);
  }
  /// Every change of `scope`, refused as read_only; what is checked comes
  /// first.
  static void expect_no_changes(KvScope& scope) {
    const auto refused = [](const auto& result) {
      expect_kv_error(result, ErrorCode::read_only, "");
    };
    refused(scope.set("a", 1, {.ttl = 1h}));
    refused(scope.set("a", 1, {.ttl = 1h, .if_absent = true}));
    refused(scope.remove("a"));
    refused(scope.remove("absent"));
    refused(scope.remove_prefix(""));
    refused(scope.increment("n", {.ttl = 1h}));
    refused(scope.decrement("n", {.ttl = 1h}));
    expect_kv_error(scope.remove("not a key"), ErrorCode::invalid_input,
                    "INVALID_KEY", "key");
    expect_kv_error(scope.set("a", 1, {}), ErrorCode::invalid_input,
                    "INVALID_TTL", "ttl");
    expect_kv_error(
        scope.increment("a", {.by = -(std::int64_t{1} << 53), .ttl = 1h}),
        ErrorCode::invalid_input, "INVALID_ARGUMENT", "by");
  }
};

TEST_F(KvTest, EveryReopenShowsTheSame) {
  fill();
  advance(1min);
  for (const auto durability :
       {Durability::os, Durability::interval, Durability::sync}) {
    options.durability = durability;
    expect_filled();
    reopen();
    expect_filled();
    EXPECT_EQ(kv()->get("b").value()->expires_at,
              clock->now() - 1min + days(90));
  }
  EXPECT_EQ(add("count"), 42);
}

TEST_F(KvTest, AnOpenReadOnlyReadsAndRefusesChanges) {
  fill();
  advance(1min);
  options.read_only = true;
  reopen();
  expect_filled();
  expect_no_changes(*kv());
  expect_filled();
  options.read_only = false;
}

TEST_F(KvTest, AReaderBesideTheOwnerSeesTheStoreAsItWas) {
  const TemporaryFolder folder;
  const auto path = (folder.path() / "store").string();
  const auto owner = HandleStore::open(path, options).value();
  const auto owned = owner->scope(kUser, kApp).value();
  owned->set("k", 1, {.ttl = 1h}).value();
  auto read_only = options;
  read_only.read_only = true;
  const auto reader = HandleStore::open(path, read_only).value();
  owned->set("k", 2, {.ttl = 1h}).value();
  const auto scope = reader->scope(kUser, kApp).value();
  EXPECT_EQ(scope->get("k").value()->value.text(), "1");
  EXPECT_EQ(scope->usage().value().used_bytes, 2u);
  expect_no_changes(*scope);
  EXPECT_EQ(owned->get("k").value()->value.text(), "2");
}

TEST_F(KvTest, AMissingStoreIsEmptyWhenReadOnly) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "none";
  options.read_only = true;
  const auto missing = HandleStore::open(path.string(), options).value();
  options.read_only = false;
  const auto scope = missing->scope(kUser, kApp).value();
  EXPECT_FALSE(scope->get("k").value().has_value());
  EXPECT_FALSE(scope->has("k").value());
  EXPECT_TRUE(scope->keys().value().keys.empty());
  EXPECT_TRUE(scope->mget({"k"}).value().empty());
  EXPECT_EQ(scope->usage().value().key_count, 0u);
  expect_no_changes(*scope);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(KvTest, ManyScopesAreCountedRightWithLittleMemory) {
  options.index_bytes = 4096;
  options.durability = Durability::os;
  reopen();
  for (int round = 0; round < 3; ++round) {
    for (int app = 0; app < 40; ++app) {
      const auto scope = kv("app" + std::to_string(app));
      for (int i = 0; i <= round; ++i)
        scope->set("k" + std::to_string(i), app, {.ttl = 1h}).value();
      EXPECT_EQ(scope->usage().value().key_count, unsigned(round) + 1);
    }
  }
}

TEST_F(KvTest, LimitsOutOfRangeAreRefusedByName) {
  auto bad = options;
  bad.kv_max_scope_bytes = 63;
  bad.kv_max_value_bytes = 31;
  bad.kv_max_key_bytes = 0;
  bad.kv_max_ttl = 0ms;
  const auto refused = HandleStore::open("memory:", bad);
  const auto error = expect_error(refused, ErrorCode::invalid_input, "store");
  for (const auto* field : {"kv_max_scope_bytes", "kv_max_value_bytes",
                            "kv_max_key_bytes", "kv_max_ttl"})
    EXPECT_NE(error.message.find(field), std::string::npos) << error.message;
}

}  // namespace
}  // namespace satchel::test
