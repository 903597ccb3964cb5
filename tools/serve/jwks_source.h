#pragma once
// Where the key set comes from, and when it is read again.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "tools/serve/jwks.h"

namespace satchel::tools::serve {

/// At most `burst` at once, and then one in each `interval`. Not thread-safe.
class RateLimit {
 public:
  RateLimit(int burst, std::chrono::microseconds interval)
      : burst_(burst), interval_(interval), left_(burst) {}
  /// Takes one, if there is one, at this time of a clock that never steps.
  bool take(std::chrono::microseconds now);

 private:
  const int burst_;
  const std::chrono::microseconds interval_;
  int left_;
  std::chrono::microseconds since_{0};
};

/// A key set from a file or a URL. It is read at once when a token needs a key
/// that is not there (within a RateLimit of 5 and one in 10 seconds), from
/// time to time so that a key that was taken back is forgotten, and, while
/// there is no set, every second. A set that cannot be read again stays.
/// Thread-safe.
class KeySource {
 public:
  /// `place` is an https URL, an http URL of this machine, or a file. Throws
  /// invalid_input(jwks) for another URL and for a file that is no key set; a
  /// URL that does not answer within a second is asked again later.
  explicit KeySource(const std::string& place);
  ~KeySource();
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;

  /// Null until the set was read once.
  std::shared_ptr<const KeySet> keys() const;

  /// Has the set read again and then calls `done`, once, on a thread of this
  /// object; a reading that is about to begin serves several calls. False,
  /// and no call, when the rate limit forbids it.
  bool refresh(std::function<void()> done);

  /// Reads it again without regard to the limit (SIGHUP).
  void reload();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace satchel::tools::serve
