#pragma once
// Work in a child of this process, forked before it uses RocksDB.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <string>

#include "storage/failure.h"

namespace satchel::storage::test {

/// Runs `work` in a child and returns what it returned (0 to 255); 250 when
/// it threw. A failed expectation does not come back: return a number.
inline int in_child(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    try {
      ::_exit(work());
    } catch (const std::exception&) {
      ::_exit(250);
    }
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return 251;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 252;
}

/// As in_child(), as a user whom modes bind; root is not bound.
inline int as_nobody(const std::function<int()>& work) {
  return in_child([&] {
    constexpr unsigned kNobody = 65534;
    if (::geteuid() == 0 && (::setresgid(kNobody, kNobody, kNobody) != 0 ||
                             ::setresuid(kNobody, kNobody, kNobody) != 0)) {
      return 253;
    }
    return work();
  });
}

/// The kind of Failure that `call` throws, as a number; -1 for none.
inline int kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return static_cast<int>(failure.kind);
  }
  return -1;
}

inline int number(Failure::Kind kind) { return static_cast<int>(kind); }

}  // namespace satchel::storage::test
