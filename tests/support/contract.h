#pragma once
// The contract of HandleStore as tests that any implementation can run:
//
//   INSTANTIATE_TEST_SUITE_P(Remote, Contract,
//                            testing::ValuesIn(contract_of(my_backend())));

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/support/fixture.h"

namespace satchel::test {

/// A test over an open store of the Backend that is its parameter.
class Contract : public testing::TestWithParam<Backend>, public StoreFixture {
 protected:
  Contract() : StoreFixture(GetParam()) {}
  void SetUp() override { open(); }
  void TearDown() override { verify(); }
  bool keeps() const { return backend_.keeps; }
  /// Opens again with the options as they are now: the same place where the
  /// backend keeps it, a new one otherwise.
  void open_with_options() {
    close();
    open();
  }
};

/// The backend as the suite's parameter; also what links the suite in.
std::vector<Backend> contract_of(Backend backend);

void PrintTo(const Backend& backend, std::ostream* out);

// Every call that takes a handle, each as (handle, user, name of the call).
enum class Call { get, save, patch, touch, revoke, history, changes, revert };
inline constexpr Call kHandleCalls[] = {
    Call::get,    Call::save,    Call::patch,   Call::touch,
    Call::revoke, Call::history, Call::changes, Call::revert};
std::string name(Call call);
/// Makes the call with arguments that a live handle at version 1 would accept;
/// nothing when it succeeded.
std::optional<Error> error_of(HandleStore& store, Call call,
                              std::string_view handle, std::string_view user);

}  // namespace satchel::test
