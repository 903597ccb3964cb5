#include "tools/open.h"

#include <utility>

#include "tools/environment.h"
#include "tools/output.h"

namespace satchel::tools {
namespace {

/// Tells people on stderr what the store noticed.
class Reporter : public Listener {
 public:
  void on_background_error(const Error& error) override {
    warn("background work of the store failed: " + error.message);
  }
  void on_clock_refused(const std::string& reason) override {
    warn(reason +
         " (nothing is removed until then; if the clock is right, run "
         "`satchel sweep --accept-clock`)");
  }
  void on_bytes_dropped(std::uint64_t bytes) override {
    warn("the log ended in " + std::to_string(bytes) +
         " bytes of an unfinished write, the trace of a crash; they were "
         "dropped, everything before them is kept");
  }
  void on_gap(std::uint64_t bytes) override {
    warn("the log has a gap: a power loss took the newest writes (" +
         std::to_string(bytes) +
         " bytes), as durability interval or os allows; the store opened at "
         "the gap");
  }
};

std::unique_ptr<HandleStore> open(
    Run& run, Options options,
    std::optional<std::chrono::milliseconds> lock_wait = {}) {
  options.durability = durability(run.globals.durability);
  options.max_state_bytes = max_state_bytes();
  options.lock_wait = lock_wait.value_or(options.contention_time);
  options.listener = std::make_shared<Reporter>();
  run.place = store_place(run.globals.store);
  return HandleStore::open(run.place, std::move(options)).value();
}

}  // namespace

std::unique_ptr<HandleStore> open_to_read(Run& run) {
  Options options;
  options.read_only = true;
  options.sweeper = false;
  return open(run, options);
}

std::unique_ptr<HandleStore> open_to_write(Run& run) {
  Options options;
  options.sweeper = false;
  return open(run, options);
}

std::unique_ptr<HandleStore> open_to_serve(
    Run& run, const std::string& identity,
    std::optional<std::chrono::milliseconds> lock_wait) {
  Options options;
  options.sweeper = true;
  options.identity = identity;
  return open(run, options, lock_wait);
}

}  // namespace satchel::tools
