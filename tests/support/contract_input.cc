// Contract: which arguments are refused, at the limit and beside it.

#include <limits>

#include "tests/support/contract.h"

namespace satchel::test {

void contract_input() {}

namespace {
using DayCount = std::chrono::duration<double, std::ratio<86400>>;

std::vector<std::string> bad_utf8() {
  return {"\xff",    "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
          "\xe2\x82"};
}
}  // namespace

TEST_P(Contract, UserIsCheckedByEveryCall) {
  const auto s = mint("{}"_j);
  std::vector<std::string> bad = bad_utf8();
  bad.insert(bad.end(), {"", std::string(1025, 'u'), std::string("a\0b", 3),
                         std::string(1, '\0'), "a\nb", "\t", "\x7f", "\xc2\x85",
                         std::string(1 << 20, 'u')});
  for (const std::string& user : bad) {
    expect_error(store().mint("note", "{}"_j, {.user = user}),
                 ErrorCode::invalid_input, "user");
    expect_error(store().list(user), ErrorCode::invalid_input, "user");
    expect_error(store().sweep(user), ErrorCode::invalid_input, "user");
    for (Call call : kHandleCalls) {
      const auto e = error_of(store(), call, s.handle, user);
      ASSERT_TRUE(e.has_value()) << name(call);
      EXPECT_EQ(e->code, ErrorCode::invalid_input) << name(call);
      EXPECT_EQ(e->details.value("field", ""), "user") << name(call);
    }
  }
}

TEST_P(Contract, UsersUpToTheLimitAreServed) {
  for (const std::string& user :
       {std::string(1024, 'u'), std::string("u"), std::string("../../x"),
        std::string("'; DROP"), std::string("a b "), std::string("\xc2\xa0")}) {
    const auto s = mint("{}"_j, {.user = user});
    EXPECT_EQ(list({}, user).size(), 1u);
    EXPECT_EQ(text(s.handle, user), "{}");
  }
}

TEST_P(Contract, KindIsAWholeStringMatch) {
  for (const std::string& kind :
       {std::string("a"), std::string("z9-"), "k" + std::string(31, '-')})
    EXPECT_EQ(mint("{}"_j, {}, kind).kind, kind);
  for (const std::string& kind :
       {std::string(), std::string("A"), std::string("1a"), std::string("-a"),
        std::string("a_b"), std::string("a\n"), std::string("a.b"),
        std::string("a\0b", 3), std::string("a b"), std::string("é"),
        std::string(33, 'k')}) {
    expect_error(store().mint(kind, "{}"_j, {.user = kUser}),
                 ErrorCode::invalid_input, "kind");
    if (kind.empty()) continue;  // In a list it means every kind.
    expect_error(store().list(kUser, {.kind = kind}), ErrorCode::invalid_input,
                 "kind");
  }
}

TEST_P(Contract, WriterIsUpTo256BytesOfUtf8) {
  const std::string longest(256, 'w');
  const auto s = mint("{}"_j, {.writer = longest});
  EXPECT_EQ(get(s.handle).last_writer, longest);
  std::vector<std::string> bad = bad_utf8();
  bad.push_back(longest + "w");
  for (const std::string& w : bad) {
    expect_error(store().mint("note", "{}"_j, {.user = kUser, .writer = w}),
                 ErrorCode::invalid_input, "writer");
    expect_error(
        store().save(s.handle, "{}"_j,
                     {.user = kUser, .expect_version = 1, .writer = w}),
        ErrorCode::invalid_input, "writer");
    expect_error(store().patch(s.handle, op::set_key("", "a", 1),
                               {.user = kUser, .writer = w}),
                 ErrorCode::invalid_input, "writer");
    expect_error(
        store().touch(s.handle, {.user = kUser, .ttl = 1h, .writer = w}),
        ErrorCode::invalid_input, "writer");
    expect_error(store().revert(s.handle, 1, {.user = kUser, .writer = w}),
                 ErrorCode::invalid_input, "writer");
  }
  EXPECT_EQ(get(s.handle).version, 1u);
}

TEST_P(Contract, RequestIdIsPrintableAscii) {
  const auto s = mint("{}"_j, {.request_id = std::string(128, '~')});
  mint("{}"_j, {.request_id = " "});
  for (const std::string& id :
       {std::string(129, 'r'), std::string("é"), std::string("a\n"),
        std::string("\x7f"), std::string("a\0b", 3), std::string("\x1f")}) {
    const auto refused = [&](const auto& result) {
      expect_error(result, ErrorCode::invalid_input, "request_id");
    };
    refused(store().mint("note", "{}"_j, {.user = kUser, .request_id = id}));
    refused(
        store().save(s.handle, "{}"_j,
                     {.user = kUser, .expect_version = 1, .request_id = id}));
    refused(store().patch(s.handle, op::merge(Json::object()),
                          {.user = kUser, .request_id = id}));
    refused(
        store().touch(s.handle, {.user = kUser, .ttl = 1h, .request_id = id}));
    refused(store().revert(s.handle, 1, {.user = kUser, .request_id = id}));
    refused(store().revoke(s.handle, {.user = kUser, .request_id = id}));
  }
}

TEST_P(Contract, TtlOutOfRangeIsRefusedEverywhere) {
  const auto s = mint("{}"_j, {.ttl = 5h});
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Ttl bad[] = {0s,
                     -1s,
                     999us,
                     days(36500) + 1us,
                     days(36501),
                     std::chrono::hours::max(),
                     std::chrono::hours::min(),
                     DayCount(std::numeric_limits<double>::quiet_NaN()),
                     DayCount(kInf),
                     DayCount(-kInf),
                     DayCount(1e300),
                     DayCount(-1e300),
                     DayCount(1e-300),
                     DayCount(5e-324),
                     DayCount(1e15),
                     std::chrono::nanoseconds(999'999)};
  for (const Ttl& ttl : bad) {
    expect_error(store().mint("note", "{}"_j, {.user = kUser, .ttl = ttl}),
                 ErrorCode::invalid_input, "ttl");
    expect_error(store().save(s.handle, "{}"_j,
                              {.user = kUser, .expect_version = 1, .ttl = ttl}),
                 ErrorCode::invalid_input, "ttl");
    expect_error(store().touch(s.handle, {.user = kUser, .ttl = ttl}),
                 ErrorCode::invalid_input, "ttl");
  }
  expect_error(store().touch(s.handle, {.user = kUser}),
               ErrorCode::invalid_input, "ttl");
  EXPECT_TRUE(same_info(get(s.handle), s));
}

TEST_P(Contract, TtlsAtTheLimitsAreExact) {
  const std::pair<Ttl, microseconds> kTtls[] = {
      {1ms, 1ms},
      {days(36500), days(36500)},
      {DayCount(0.5), 12h},
      {std::chrono::seconds(2'592'001), days(30) + 1s},
      {std::chrono::seconds(7'776'001), days(90) + 1s},
      {1'001us, 1'001us}};
  for (const auto& [ttl, want] : kTtls) {
    const auto s = mint("{}"_j, {.ttl = ttl});
    EXPECT_EQ(s.expires_at, clock->now() + want);
    // What is returned as made is readable at that instant.
    EXPECT_EQ(get(s.handle).expires_at, s.expires_at);
  }
}

TEST_P(Contract, LimitIsOneToAThousand) {
  mint("{}"_j);
  for (std::uint32_t limit : {0u, 1001u, 4'294'967'295u})
    expect_error(store().list(kUser, {.limit = limit}),
                 ErrorCode::invalid_input, "limit");
  EXPECT_EQ(list({.limit = 1}).size(), 1u);
  EXPECT_EQ(list({.limit = 1000}).size(), 1u);
}

TEST_P(Contract, VersionsOutOfRangeAreRefusedByName) {
  const auto s = mint("{}"_j);
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t v : {std::uint64_t{2}, kMax - 1, kMax}) {
    expect_error(store().get(s.handle, {.user = kUser, .version = v}),
                 ErrorCode::invalid_input, "version");
    expect_error(store().changes_since(s.handle, v, kUser),
                 ErrorCode::invalid_input, "since");
    expect_error(store().revert(s.handle, v, {.user = kUser}),
                 ErrorCode::invalid_input, "to_version");
  }
  expect_error(store().get(s.handle, {.user = kUser, .version = 0}),
               ErrorCode::invalid_input, "version");
  expect_error(store().revert(s.handle, 0, {.user = kUser}),
               ErrorCode::invalid_input, "to_version");
  EXPECT_EQ(get(s.handle).version, 1u);
}

TEST_P(Contract, StateMustBeAnObject) {
  const auto s = mint("{}"_j);
  for (const JsonInput& root :
       {"[]"_j, "3"_j, "null"_j, "true"_j, R"("{}")"_j, "[{}]"_j}) {
    expect_error(store().mint("note", root, {.user = kUser}),
                 ErrorCode::invalid_input, "state");
    expect_error(
        store().save(s.handle, root, {.user = kUser, .expect_version = 1}),
        ErrorCode::invalid_input, "state");
  }
}

TEST_P(Contract, OpsMustBeAnOpOrAnArrayOfAtMostAThousand) {
  const auto s = mint(R"({"l":[]})"_j);
  for (const JsonInput& ops : {"3"_j, "null"_j, R"("append")"_j, "true"_j})
    expect_error(store().patch(s.handle, ops, {.user = kUser}),
                 ErrorCode::invalid_input, "ops");
  Json many = Json::array();
  for (int i = 0; i < 1000; ++i) many.push_back(op::append("l", i));
  EXPECT_EQ(patch(s.handle, many).version, 2u);
  many.push_back(op::append("l", 1000));
  expect_error(store().patch(s.handle, many, {.user = kUser}),
               ErrorCode::invalid_input, "ops");
  EXPECT_EQ(get(s.handle).state.value().json()["l"].size(), 1000u);
}

}  // namespace satchel::test
