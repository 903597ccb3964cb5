// Replays the inputs that fuzzing found worth keeping: no crash, no broken
// invariant (the targets abort).

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/fuzz.h"

namespace satchel::fuzz {
namespace {

/// How many inputs tests/fuzz/corpus/NAME has; `target` takes each.
int replay(const char* name, void (*target)(std::string_view)) {
  const char* source = std::getenv("SATCHEL_SOURCE_DIR");
  const auto folder =
      std::filesystem::path(source ? source : ".") / "tests/fuzz/corpus" / name;
  int replayed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    target(std::string(std::istreambuf_iterator<char>(file), {}));
    EXPECT_TRUE(file) << entry.path();
    ++replayed;
  }
  return replayed;
}

TEST(Corpus, Json) { EXPECT_GE(replay("json", json), 10); }
TEST(Corpus, Message) { EXPECT_GE(replay("message", message), 30); }
TEST(Corpus, StateWire) { EXPECT_GE(replay("state_wire", state_wire), 30); }

}  // namespace
}  // namespace satchel::fuzz
