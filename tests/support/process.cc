#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

extern char** environ;

namespace satchel::test {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) fail("pipe");
  return {fds[0], fds[1]};
}

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> out;
  for (char** p = environ; *p; ++p) {
    const std::string entry = *p;
    if (!command.env.count(entry.substr(0, entry.find('=')))) {
      out.push_back(entry);
    }
  }
  for (const auto& [name, value] : command.env) {
    if (value) out.push_back(name + '=' + *value);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

/// Between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const Command& command, char* const* argv,
                         char* const* env, int in, int out, int err) {
  ::signal(SIGPIPE, SIG_DFL);
  if (in < 0) in = ::open("/dev/null", O_RDONLY);
  if (!command.stdout_path.empty()) {
    out = ::open(command.stdout_path.c_str(), O_WRONLY | O_CREAT, 0600);
  }
  if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) {
    ::_exit(126);
  }
  if (command.umask) ::umask(*command.umask);
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) {
    ::_exit(126);
  }
  ::execvpe(argv[0], argv, env);
  ::_exit(127);
}

/// Appends what is there; false at the end of the stream.
bool drain(int fd, std::string* text) {
  char buffer[65536];
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  if (n > 0) text->append(buffer, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

void close_fd(int* fd) {
  if (*fd >= 0) ::close(*fd);
  *fd = -1;
}

}  // namespace

Process::Process(const Command& command)
    : end_(std::chrono::steady_clock::now() + command.timeout) {
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> args = command.argv;
  std::vector<std::string> env = environment_of(command);
  const auto argv = pointers(args);
  const auto envp = pointers(env);
  const Pipe in = make_pipe(), out = make_pipe(), err = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    become(command, argv.data(), envp.data(), command.input ? in.read : -1,
           out.write, err.write);
  }
  ::close(in.read);
  ::close(out.write);
  ::close(err.write);
  in_ = in.write;
  out_ = out.read;
  err_ = err.read;
  if (!command.input) close_fd(&in_);
  if (in_ >= 0) ::fcntl(in_, F_SETFL, O_NONBLOCK);
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  close_all();
}

void Process::close_all() {
  close_fd(&in_);
  close_fd(&out_);
  close_fd(&err_);
}

int Process::left_ms() const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      end_ - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

void Process::pump(int timeout_ms, bool to_write) {
  pollfd fds[3] = {
      {out_, POLLIN, 0}, {err_, POLLIN, 0}, {to_write ? in_ : -1, POLLOUT, 0}};
  if (::poll(fds, 3, timeout_ms) <= 0) return;
  if (fds[0].revents && !drain(out_, &out_text_)) close_fd(&out_);
  if (fds[1].revents && !drain(err_, &err_text_)) close_fd(&err_);
}

bool Process::write(const std::string& text) {
  std::size_t done = 0;
  while (in_ >= 0 && done < text.size()) {
    const ssize_t n = ::write(in_, text.data() + done, text.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EAGAIN && left_ms() > 0) {
      pump(left_ms(), true);
    } else if (n >= 0 || errno != EINTR) {
      return false;
    }
  }
  return in_ >= 0;
}

void Process::close_input() { close_fd(&in_); }

std::optional<std::string> Process::read_line() {
  for (;;) {
    const auto end = out_text_.find('\n');
    if (end != std::string::npos) {
      std::string line = out_text_.substr(0, end);
      out_text_.erase(0, end + 1);
      return line;
    }
    if (out_ < 0 || left_ms() == 0) return std::nullopt;
    pump(left_ms());
  }
}

void Process::kill(int signal) {
  if (pid_ > 0) ::kill(pid_, signal);
}

Finished Process::wait() {
  close_input();
  while ((out_ >= 0 || err_ >= 0) && left_ms() > 0) pump(left_ms());
  Finished done;
  done.timed_out = out_ >= 0 || err_ >= 0;
  if (done.timed_out) kill(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  close_all();
  done.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  done.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + done.signal;
  done.out = std::move(out_text_);
  done.err = std::move(err_text_);
  return done;
}

Finished run(const Command& command) {
  Process process(command);
  if (command.input) process.write(*command.input);
  return process.wait();
}

std::string satchel_binary() {
  const char* path = std::getenv("SATCHEL_BIN");
  if (!path) {
    throw std::runtime_error("SATCHEL_BIN must name the program to test");
  }
  return path;
}

}  // namespace satchel::test
