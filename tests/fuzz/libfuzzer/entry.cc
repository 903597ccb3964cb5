// libFuzzer's entry; SATCHEL_FUZZ_TARGET names one of fuzz.h.

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  satchel::fuzz::SATCHEL_FUZZ_TARGET(
      {reinterpret_cast<const char*>(data), size});
  return 0;
}
