#pragma once
// The last resort of a server that is told to end.

#include <unistd.h>

#include <chrono>
#include <thread>

namespace satchel::tools::serve {

/// Ends the process with 0 after `time`, whatever it waits for: a supervisor
/// kills what lingers, and all that was acknowledged is safe.
inline void exit_after(std::chrono::milliseconds time) {
  std::thread([time] {
    std::this_thread::sleep_for(time);
    ::_exit(0);
  }).detach();
}

}  // namespace satchel::tools::serve
