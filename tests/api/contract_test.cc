// The contract suite over the stores of this library.

#include "tests/support/contract.h"

namespace satchel::test {

INSTANTIATE_TEST_SUITE_P(Disk, Contract,
                         testing::ValuesIn(contract_of(on_disk())));
INSTANTIATE_TEST_SUITE_P(Memory, Contract,
                         testing::ValuesIn(contract_of(in_memory())));

}  // namespace satchel::test
