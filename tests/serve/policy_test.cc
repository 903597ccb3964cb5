// What an operator's rules about lifetimes do to creates, updates and touches.

#include "tools/serve/policy.h"

#include <gtest/gtest.h>

#include "satchel/error.h"
#include "tools/serve/tool_arguments.h"

namespace satchel::tools::serve {
namespace {

using namespace std::chrono_literals;
using Days = std::chrono::days;

Policy policy(std::optional<std::chrono::microseconds> by_default,
              std::optional<std::chrono::microseconds> most, bool require) {
  return {by_default, most, require};
}

/// The lifetime as text: "keep", "persist" or its microseconds.
std::string shown(const Ttl& ttl) {
  switch (ttl.kind()) {
    case Ttl::Kind::keep:
      return "keep";
    case Ttl::Kind::persist:
      return "persist";
    case Ttl::Kind::duration:
      break;
  }
  return std::to_string(ttl.duration().count());
}

/// The field of the refusal; "" when nothing was refused.
template <class F>
std::string refused_field(F call) {
  try {
    (void)call();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid_input);
    return error.details.value("field", "");
  }
}

TEST(PolicyTest, WithoutRulesNothingExpiresUnasked) {
  const Policy none;
  EXPECT_EQ(shown(none.for_create(Ttl::keep())), "keep");
  EXPECT_EQ(shown(none.for_create(Ttl::persist())), "persist");
  EXPECT_EQ(shown(none.for_update(Days(36'500))), "3153600000000000");
}

TEST(PolicyTest, TheDefaultIsForCreatesThatSayNothing) {
  const auto p = policy(7 * 24h, std::nullopt, false);
  EXPECT_EQ(shown(p.for_create(Ttl::keep())), "604800000000");
  EXPECT_EQ(shown(p.for_create(1h)), "3600000000");
  EXPECT_EQ(shown(p.for_create(Ttl::persist())), "persist");
  EXPECT_EQ(shown(p.for_update(Ttl::keep())), "keep");
}

TEST(PolicyTest, TheMaximumHoldsForEveryCall) {
  const auto p = policy(std::nullopt, 24h, false);
  EXPECT_EQ(shown(p.for_create(Ttl::keep())), "86400000000");
  EXPECT_EQ(shown(p.for_update(Ttl::keep())), "keep");
  EXPECT_EQ(shown(p.for_update(24h)), "86400000000");
  EXPECT_EQ(refused_field([&] { return p.for_create(24h + 1us); }), "ttl_days");
  EXPECT_EQ(refused_field([&] { return p.for_update(24h + 1us); }), "ttl_days");
  EXPECT_EQ(refused_field([&] { return p.for_create(Ttl::persist()); }),
            "ttl_days");
  EXPECT_EQ(refused_field([&] { return p.for_update(Ttl::persist()); }),
            "ttl_days");
}

TEST(PolicyTest, ARefusalNamesTheMaximum) {
  try {
    (void)policy(std::nullopt, 36h, false).for_update(Days(2));
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_NE(error.message.find("1.5"), std::string::npos) << error.message;
  }
}

TEST(PolicyTest, TheMaximumThatARefusalNamesIsTaken) {
  for (const std::chrono::microseconds most :
       {std::chrono::microseconds(1ms), std::chrono::microseconds(1s),
        std::chrono::microseconds(1h), std::chrono::microseconds(100h),
        std::chrono::microseconds(Days(7))}) {
    const auto p = policy(std::nullopt, most, false);
    try {
      (void)p.for_update(Ttl::persist());
      FAIL() << "not refused";
    } catch (const Error& error) {
      const std::string label = "at most ";
      const auto at = error.message.find(label);
      ASSERT_NE(at, std::string::npos) << error.message;
      const auto named = error.message.substr(at + label.size());
      const std::string text = "{\"ttl_days\":" + named + "}";
      const ToolArguments sent(text, {"ttl_days"});
      EXPECT_GT(sent.lifetime().duration().count(), 0) << named;
      EXPECT_EQ(refused_field([&] { return p.for_update(sent.lifetime()); }),
                "")
          << named;
    }
  }
}

TEST(PolicyTest, RequiredMeansSaidAndFinite) {
  const auto p = policy(std::nullopt, std::nullopt, true);
  EXPECT_EQ(refused_field([&] { return p.for_create(Ttl::keep()); }),
            "ttl_days");
  EXPECT_EQ(refused_field([&] { return p.for_create(Ttl::persist()); }),
            "ttl_days");
  EXPECT_EQ(refused_field([&] { return p.for_update(Ttl::persist()); }),
            "ttl_days");
  EXPECT_EQ(shown(p.for_create(1h)), "3600000000");
  EXPECT_EQ(shown(p.for_update(Ttl::keep())), "keep");
}

TEST(PolicyTest, ContradictionsAreWrongUsage) {
  EXPECT_EQ(refused_field([] {
              policy(2h, 1h, false).validate();
              return 0;
            }),
            "arguments");
  EXPECT_EQ(refused_field([] {
              policy(1h, std::nullopt, true).validate();
              return 0;
            }),
            "arguments");
  EXPECT_EQ(refused_field([] {
              policy(1h, 1h, false).validate();
              return 0;
            }),
            "");
}

}  // namespace
}  // namespace satchel::tools::serve
