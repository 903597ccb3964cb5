#pragma once
// A process that tells what it does until the kernel ends it.

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace satchel::test {

/// The kernel ends this process after so long; nothing here can delay it.
inline void die_after(int microseconds) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer;
  itimerspec when{};
  when.it_value.tv_nsec = microseconds * 1000L;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      timer_settime(timer, 0, &when, nullptr) != 0) {
    _exit(3);
  }
}

/// One write, so that lines of several threads stay whole and none is held
/// back in this process.
inline void tell(const std::string& line) {
  if (::write(STDOUT_FILENO, line.data(), line.size()) !=
      static_cast<ssize_t>(line.size())) {
    _exit(4);
  }
}

/// SATCHEL_CRASH_ROUNDS and SATCHEL_CRASH_SEED choose more and others.
inline std::uint64_t from_environment(const char* name,
                                      std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace satchel::test
