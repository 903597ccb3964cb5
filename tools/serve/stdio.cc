#include "tools/serve/stdio.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "api/utf8.h"
#include "tools/serve/last_moments.h"
#include "tools/serve/line_io.h"
#include "tools/serve/message.h"
#include "tools/serve/raw_json.h"
#include "tools/serve/workers.h"

namespace satchel::tools::serve {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kThreads = 64;
/// With more than this under way the input waits.
constexpr std::size_t kMostUnfinished = 1024;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr auto kLastMoments = 850ms;

/// SIGTERM, SIGINT and SIGHUP as something to poll. Threads that are started
/// later do not get them either.
class EndSignals {
 public:
  EndSignals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
      ::sigaddset(&set, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    fd_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  }
  ~EndSignals() { ::close(fd_); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  int fd() const { return fd_; }
  bool came() const {
    pollfd poll = {fd_, POLLIN, 0};
    return ::poll(&poll, 1, 0) > 0;
  }

 private:
  int fd_ = -1;
};

std::string host_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return {};
  return host.data();
}

/// At most 256 bytes, cut between characters.
std::string fitted_writer(std::string name) {
  constexpr std::size_t kMost = 256;
  if (name.size() > kMost) name.resize(kMost);
  while (!is_utf8(name)) name.pop_back();
  return name;
}

/// Equal for ids that are equal, however they are spelled.
std::string id_key(std::string_view id) {
  const auto text = text_of(id);
  return text ? 's' + *text : 'n' + std::string(id);
}

/// One connection: the reader's thread feeds it lines.
class Session {
 public:
  Session(Protocol& protocol, const StdioSettings& settings)
      : protocol_(protocol), settings_(settings), host_(host_name()) {}

  void take(LineSplitter::Line line) {
    if (line.too_long) {
      return refuse(rpc_error(rpc::kParseError,
                              "The line is too long; at most " +
                                  std::to_string(settings_.longest_line) +
                                  " bytes are read"));
    }
    const std::size_t bytes = line.text.size();
    auto read = read_message(std::move(line.text));
    if (const auto* error = std::get_if<RpcError>(&read)) return refuse(*error);
    auto& message = std::get<Message>(read);
    if (message.kind == MessageKind::notification) {
      if (message.method == "notifications/cancelled") cancel(message);
    } else if (message.kind != MessageKind::response) {
      if (message.method == "initialize") client_ = message.client_name;
      start(std::move(message), bytes);
    }
  }

  bool is_full() const {
    return calls_.unfinished() + quick_.unfinished() >= kMostUnfinished ||
           bytes_ > kMostBytes;
  }
  bool is_dead() const { return output_.is_dead(); }

  /// Answers what was taken, or, when nobody reads, gives up what has not
  /// begun.
  void finish() {
    if (is_dead()) calls_.drop_waiting();
    quick_.finish();
    calls_.finish();
  }

 private:
  struct Task {
    Message message;
    Caller caller;
    std::size_t bytes = 0;
    std::atomic<bool> cancelled{false};
  };

  Caller caller_of(const Message& message) const {
    Caller caller = settings_.caller;
    if (!caller.writer.empty()) return caller;
    const std::string& client = message.modern ? message.client_name : client_;
    const bool both = !client.empty() && !host_.empty();
    caller.writer = fitted_writer(client + (both ? "@" : "") + host_);
    return caller;
  }

  /// Not on this thread: a reader that stalls must not stall the input.
  void refuse(const RpcError& error) {
    quick_.post([this, body = error.body()] { output_.write(body); });
  }

  void start(Message message, std::size_t bytes) {
    const bool quick = Protocol::is_quick(message);
    const auto task = std::make_shared<Task>();
    task->caller = caller_of(message);
    task->message = std::move(message);
    task->bytes = bytes;
    bytes_ += bytes;
    if (!quick && !task->message.id.empty()) {
      const std::scoped_lock lock(mutex_);
      under_way_[id_key(task->message.id)] = task;
    }
    (quick ? quick_ : calls_).post([this, task] { run(task); });
  }

  void run(const std::shared_ptr<Task>& task) {
    std::string body;
    if (!task->cancelled) {
      body = protocol_.answer(task->message, task->caller).body;
    }
    if (!forget(task) && !body.empty()) output_.write(body);
    bytes_ -= task->bytes;
  }

  /// Ends the time in which the task can be cancelled; whether it was.
  bool forget(const std::shared_ptr<Task>& task) {
    if (task->message.id.empty()) return false;
    const std::scoped_lock lock(mutex_);
    const auto found = under_way_.find(id_key(task->message.id));
    if (found != under_way_.end() && found->second == task) {
      under_way_.erase(found);
    }
    return task->cancelled;
  }

  /// A call that has not begun is not carried out; one that has is carried out
  /// whole. Neither is answered.
  void cancel(const Message& message) {
    if (message.params.empty()) return;
    const auto id = member_of(message.params, "requestId");
    if (!id) return;
    const std::scoped_lock lock(mutex_);
    const auto found = under_way_.find(id_key(*id));
    if (found != under_way_.end()) found->second->cancelled = true;
  }

  Protocol& protocol_;
  const StdioSettings& settings_;
  const std::string host_;
  /// The client's name from the handshake.
  std::string client_;
  LineOutput output_{STDOUT_FILENO};
  std::atomic<std::size_t> bytes_{0};
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Task>> under_way_;
  /// Answers without the store: they wait for no call.
  Workers quick_{1};
  Workers calls_{kThreads};
};

/// Standard input and the reasons to stop reading it.
class Input {
 public:
  explicit Input(std::size_t longest) : splitter_(longest) {}

  /// Appends lines; false at the end of everything.
  bool read(std::deque<LineSplitter::Line>* lines) {
    std::array<pollfd, 3> fds = {{{STDIN_FILENO, POLLIN, 0},
                                  {signals_.fd(), POLLIN, 0},
                                  {STDOUT_FILENO, 0, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0) return errno == EINTR;
    if (fds[1].revents != 0) return false;
    // Somebody who closed our output will never read an answer. (A pipe says
    // POLLERR, a socket POLLHUP.)
    if ((fds[2].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return false;
    if (fds[0].revents == 0) return true;
    const ssize_t n = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (n > 0) {
      splitter_.feed({buffer_.data(), static_cast<std::size_t>(n)}, lines);
      return true;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    splitter_.finish(lines);
    return false;
  }

  bool must_end() const { return signals_.came(); }

 private:
  EndSignals signals_;
  LineSplitter splitter_;
  std::string buffer_ = std::string(std::size_t{1} << 16, '\0');
};

}  // namespace

void serve_stdio(Protocol& protocol, const StdioSettings& settings) {
  Input input(settings.longest_line);
  Session session(protocol, settings);
  std::deque<LineSplitter::Line> lines;
  bool more = true;
  while (more) {
    more = input.read(&lines);
    if (!more) exit_after(kLastMoments);
    for (; !lines.empty(); lines.pop_front()) {
      while (session.is_full() && !session.is_dead()) {
        if (more && input.must_end()) {
          more = false;
          exit_after(kLastMoments);
        }
        std::this_thread::sleep_for(1ms);
      }
      session.take(std::move(lines.front()));
    }
    more = more && !session.is_dead();
  }
  if (session.is_dead()) exit_after(kLastMoments);
  session.finish();
}

}  // namespace satchel::tools::serve
