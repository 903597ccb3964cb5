// Replays the inputs that fuzzing found worth keeping: no crash, no broken
// invariant (json_fuzz.cc aborts).

#include "tests/fuzz/json_fuzz.h"

#include "json_support.h"
// The entry itself: it belongs to no library.
#include "tests/fuzz/json_fuzz.cc"

namespace satchel {
namespace {

TEST(JsonCorpus, EveryInputHoldsTheInvariants) {
  const char* source = std::getenv("SATCHEL_SOURCE_DIR");
  const std::filesystem::path folder =
      std::filesystem::path(source ? source : ".") / "tests/fuzz/corpus/json";
  int replayed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string input = testing::read_file(entry.path());
    EXPECT_EQ(
        LLVMFuzzerTestOneInput(
            reinterpret_cast<const std::uint8_t*>(input.data()), input.size()),
        0)
        << entry.path();
    ++replayed;
  }
  EXPECT_GE(replayed, 10);
}

}  // namespace
}  // namespace satchel
