#pragma once
// A fixed sequence of mutations of one user, and what the store must show after
// each: the oracle of the tests that break the disk.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/embedded/open.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fixture.h"

namespace satchel::test {

/// All kinds of mutation on two handles, each with a request id. Step i is the
/// same call whenever it is sent. One Scenario sees one store, which may be
/// reopened; expected() is shared by all of them.
class Scenario {
 public:
  /// Sends step `i`, from 0; steps before it went before. The error is that of
  /// the call.
  std::optional<Error> send(HandleStore& store, std::size_t i);

  /// Forgets handles that were minted, for one that starts over or reopens.
  /// Throws the Error of a store that cannot be listed.
  void look_up(HandleStore& store);

  /// What describe() gives when the first `steps` steps, no others, took
  /// effect.
  static const std::string& expected(std::size_t steps);
  /// The number of steps after which a store looks like this; none: of no
  /// number.
  static std::optional<std::size_t> steps_in(const std::string& description,
                                             std::size_t at_most);

  /// Everything the user can see: states, versions, writers, expiry, history.
  /// Throws the Error of a read that is refused.
  static std::string describe(HandleStore& store);

 private:
  struct Call;
  static Call call(std::size_t i);

  std::string handles_[2];
};

/// Options with a clock that stands still and without background work.
Options quiet_options(Durability durability = Durability::sync);

/// Where folders are made and synced quickly.
std::filesystem::path fast_parent();

inline constexpr std::size_t kSideBySide = 8;
/// Runs body(0) to body(kSideBySide - 1), each in a thread of its own.
void side_by_side(const std::function<void(std::size_t)>& body);

std::shared_ptr<storage::FileSystemHandle> handle_of(
    const std::shared_ptr<FaultFileSystem>& fs);

}  // namespace satchel::test
