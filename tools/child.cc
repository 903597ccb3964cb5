#include "tools/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "satchel/error.h"

extern char** environ;

namespace satchel::tools {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";

void require(int error, const char* what) {
  if (error == 0) return;
  throw Error(ErrorCode::internal_error,
              std::string(what) + " failed: " + std::strerror(error));
}

/// The program's file; its name, not the link, so that the child finds itself
/// in turn.
std::string program_file() {
  std::string path(4096, '\0');
  const ssize_t n = ::readlink(kThisProgram, path.data(), path.size());
  require(n < 0 ? errno : 0, "finding this program's file");
  path.resize(static_cast<std::size_t>(n));
  // A file that was replaced meanwhile still runs through the link.
  return ::access(path.c_str(), X_OK) == 0 ? path : kThisProgram;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> out;
  for (char** p = environ; *p; ++p) {
    const std::string entry = *p;
    bool changed = false;
    for (const auto& [name, value] : changes) {
      changed = changed || entry.starts_with(name + '=');
    }
    if (!changed) out.push_back(entry);
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) out.push_back(name + '=' + value);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments,
             const std::vector<std::pair<std::string, std::string>>& env) {
  int out[2];
  int err[2];
  require(::pipe2(out, O_CLOEXEC) == 0 ? 0 : errno, "making a pipe");
  require(::pipe2(err, O_CLOEXEC) == 0 ? 0 : errno, "making a pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  // This program ignores SIGPIPE; a child starts as from a shell.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const std::string file = program_file();
  std::vector<std::string> args = {"satchel"};
  args.insert(args.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_with(env);
  const int error =
      ::posix_spawn(&pid_, file.c_str(), &actions, &attributes,
                    pointers(args).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
  require(error, "starting a process");
}

Child::~Child() {
  if (out_ >= 0) ::close(out_);
  if (err_ >= 0) ::close(err_);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

Finished Child::finish() {
  Finished done;
  done.out = read_all(out_);
  done.err = read_all(err_);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  done.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return done;
}

}  // namespace satchel::tools
