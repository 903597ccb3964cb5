#include "tools/story.h"

#include <sstream>

#include "satchel/error.h"
#include "tools/escape.h"
#include "tools/output.h"

namespace satchel::tools {
namespace {

constexpr std::size_t kColumns = 78;
constexpr std::size_t kMostLines = 13;

/// As a shell would need it.
std::string quoted(const std::string& argument) {
  const bool plain =
      !argument.empty() &&
      argument.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
          "-_./:") == std::string::npos;
  if (plain) return argument;
  std::string out = "'";
  for (const char c : argument) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + '\'';
}

/// How many bytes of `text` go on a line of `columns`: all, or up to a comma or
/// space, or, without one near the end, as many as fit.
std::size_t line_length(const std::string& text, std::size_t columns) {
  std::size_t end = text.size();
  while (width_of(text.substr(0, end)) > columns) {
    do {
      --end;
    } while ((static_cast<unsigned char>(text[end]) >> 6) == 2);
  }
  if (end == text.size()) return end;
  const auto gap = text.find_last_of(", ", end - 1);
  return gap != std::string::npos && gap + 50 > end ? gap + 1 : end;
}

/// `text` on lines of at most kColumns that begin with `indent`.
std::string broken(std::string text, const std::string& indent) {
  std::string out;
  do {
    const std::size_t end = line_length(text, kColumns - indent.size());
    out += indent + text.substr(0, end) + '\n';
    text.erase(0, end);
  } while (!text.empty());
  return out;
}

/// A program's output, long lines broken, a long output cut.
std::string indented(const std::string& text) {
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out += broken(line, "    ");
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < kMostLines && end < out.size(); ++lines) {
    end = out.find('\n', end) + 1;
  }
  return end == out.size() ? out : out.substr(0, end) + "    …\n";
}

}  // namespace

void require_told(bool is_so, const std::string& what) {
  if (is_so) return;
  throw Error(ErrorCode::internal_error,
              "the demo did not go as told: " + what +
                  "; please report this with the output above");
}

Story::Story(std::string store, int fd) : store_(std::move(store)), fd_(fd) {}

void Story::tell(const std::string& text) {
  std::istringstream in(text);
  std::string out = "\n";
  std::string line;
  for (std::string word; in >> word;) {
    if (!line.empty() && width_of(line) + 1 + width_of(word) > kColumns) {
      out += line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  write_all(fd_, out + line + '\n');
}

void Story::show_command(const Command& command) {
  std::string out;
  std::string line = "  " + command.device + "$ satchel";
  for (const std::string& argument : command.arguments) {
    std::string word = quoted(argument);
    if (width_of(line) + 1 + width_of(word) + 2 > kColumns) {
      out += line + " \\\n";
      line = "     ";
    }
    // A line may end after any comma of a long JSON text: the shell passes the
    // newline on, and JSON allows it there.
    while (width_of(line) + 1 + width_of(word) + 2 > kColumns) {
      const std::size_t end = line_length(word, kColumns - 8);
      if (end == word.size()) break;
      out += line + ' ' + word.substr(0, end) + '\n';
      line = "      ";
      word.erase(0, end);
    }
    line += ' ' + word;
  }
  write_all(fd_, out + line + '\n');
}

void Story::show_output(const Finished& done) {
  std::string text = indented(done.out) + indented(done.err);
  if (done.exit_code != 0) {
    text += "    (exit code " + std::to_string(done.exit_code) + ")\n";
  }
  write_all(fd_, text);
}

std::vector<std::pair<std::string, std::string>> Story::environment(
    const Command& command) const {
  return {{"SATCHEL_STORE", store_},
          {"SATCHEL_USER", "alice"},
          {"SATCHEL_WRITER", command.device},
          {"COLUMNS", std::to_string(kColumns - 4)},
          {"SATCHEL_DURABILITY", ""},
          {"SATCHEL_MAX_STATE_BYTES", ""}};
}

Finished Story::run(const Command& command, int exit_code) {
  show_command(command);
  const Finished done = Child(command.arguments, environment(command)).finish();
  ++commands_;
  show_output(done);
  require_told(done.exit_code == exit_code, command.arguments.front() +
                                                " ended with exit code " +
                                                std::to_string(done.exit_code));
  return done;
}

std::pair<Finished, Finished> Story::run_both(const Command& a,
                                              const Command& b) {
  Child first(a.arguments, environment(a));
  Child second(b.arguments, environment(b));
  const std::pair<Finished, Finished> done = {first.finish(), second.finish()};
  commands_ += 2;
  show_command(a);
  show_output(done.first);
  show_command(b);
  show_output(done.second);
  return done;
}

}  // namespace satchel::tools
