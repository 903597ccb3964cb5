#include "tools/serve/jwks_source.h"

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "satchel/clock.h"
#include "satchel/error.h"
#include "tools/output.h"
#include "tools/serve/fetch.h"

namespace satchel::tools::serve {
namespace {

using std::chrono::seconds;
constexpr seconds kWithoutKeys{1};
constexpr seconds kWithKeys{600};
/// How long a start waits for a URL to answer.
constexpr seconds kPatience{1};
constexpr std::size_t kMaxFileBytes = std::size_t{512} << 10;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || !file.eof()) {
    throw Error(ErrorCode::invalid_input,
                text.size() > kMaxFileBytes
                    ? "the key set is over 512 KiB"
                    : "the key set's file cannot be read",
                {{"field", "jwks"}});
  }
  return text;
}

}  // namespace

bool RateLimit::take(std::chrono::microseconds now) {
  if (left_ == burst_) since_ = now;
  const auto gained = (now - since_) / interval_;
  if (gained > 0) {
    since_ += gained * interval_;
    left_ =
        gained >= burst_ - left_ ? burst_ : left_ + static_cast<int>(gained);
  }
  if (left_ == 0) return false;
  --left_;
  return true;
}

/// Outlives the KeySource while its thread hangs in a name server.
struct KeySource::State {
  std::string url;
  std::string path;
  const std::shared_ptr<const Clock> clock = system_clock();

  std::mutex mutex;
  std::condition_variable wake;
  std::shared_ptr<const KeySet> keys;
  RateLimit limit{5, seconds(10)};
  std::vector<std::function<void()>> waiting;
  /// A reading is to begin; the first one does so at once.
  bool asked = true;
  bool reading = false;
  bool tried = false;
  bool stop = false;
  std::thread thread;
  /// The thread's: what the last reading failed with, told once.
  std::string complaint;

  std::shared_ptr<const KeySet> read() const {
    return std::make_shared<const KeySet>(url.empty() ? read_file(path)
                                                      : fetch(url));
  }

  void read_and_tell() {
    std::shared_ptr<const KeySet> fresh;
    std::string failure;
    try {
      fresh = read();
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (failure != complaint && !failure.empty()) warn(failure);
    complaint = failure;
    const std::lock_guard lock(mutex);
    if (fresh) keys = std::move(fresh);
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!stop) {
      wake.wait_for(lock, keys ? kWithKeys : kWithoutKeys,
                    [&] { return asked || stop; });
      if (stop) break;
      asked = false;
      reading = true;
      const auto callers = std::exchange(waiting, {});
      lock.unlock();
      read_and_tell();
      for (const auto& done : callers) done();
      lock.lock();
      reading = false;
      tried = true;
      wake.notify_all();
    }
  }
};

KeySource::KeySource(const std::string& place)
    : state_(std::make_shared<State>()) {
  if (place.find("://") != place.npos) {
    check_fetch_url(place);
    state_->url = place;
  } else {
    state_->path = place;
    state_->keys = state_->read();
    state_->asked = false;
    state_->tried = true;
  }
  state_->thread = std::thread([state = state_] { state->run(); });
  std::unique_lock lock(state_->mutex);
  state_->wake.wait_for(lock, kPatience, [&] { return state_->tried; });
}

KeySource::~KeySource() {
  bool reading = false;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
    // Nobody waits any more for what they asked.
    state_->waiting.clear();
    reading = state_->reading;
  }
  state_->wake.notify_all();
  if (reading) {
    state_->thread.detach();
  } else {
    state_->thread.join();
  }
}

std::shared_ptr<const KeySet> KeySource::keys() const {
  const std::lock_guard lock(state_->mutex);
  return state_->keys;
}

bool KeySource::refresh(std::function<void()> done) {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->asked && !state_->limit.take(state_->clock->monotonic())) {
      return false;
    }
    state_->asked = true;
    state_->waiting.push_back(std::move(done));
  }
  state_->wake.notify_all();
  return true;
}

void KeySource::reload() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->asked = true;
  }
  state_->wake.notify_all();
}

}  // namespace satchel::tools::serve
