#include "tools/arguments.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "tools/environment.h"
#include "tools/escape.h"

namespace satchel::tools {

CLI::App* add_command(CLI::App& app, const char* name, const char* what,
                      const std::string& example) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("Example:\n  " + example +
                  "\n\nOptions for every command: satchel --help");
  return command;
}

CLI::Option* add_positional(CLI::App* command, const char* name,
                            std::string& target, const char* what) {
  return command->add_option(name, target, what)
      ->required()
      ->type_name("")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_value(CLI::App* command, const char* name,
                       std::optional<std::string>& target, const char* what,
                       const char* shown_as) {
  return command
      ->add_option_function<std::string>(
          name, [&target](const std::string& value) { target = value; }, what)
      ->type_name(shown_as)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_switch(CLI::App* command, const char* name, bool& target,
                        const char* what) {
  return command->add_flag(name, target, what)->disable_flag_override();
}

void add_mutation_options(CLI::App* command, MutationArguments& arguments) {
  add_value(command, "--request-id", arguments.request_id,
            "A retry with the same ID is not applied twice", "ID");
  add_switch(command, "--return-state", arguments.return_state,
             "Print the state as it is afterwards, too");
}

std::string MutationArguments::id() const {
  if (request_id && request_id->empty()) {
    throw invalid("request_id",
                  "--request-id is empty; give 1 to 128 printable ASCII "
                  "characters, or leave the option out");
  }
  return request_id.value_or("");
}

Error wrong_usage(const std::string& message) {
  return invalid("arguments", message);
}

Error invalid(const char* field, const std::string& message) {
  return Error(ErrorCode::invalid_input, message, Json{{"field", field}});
}

std::string shown(std::string_view value) {
  return '\'' + fitted(escaped(value.substr(0, 400)), 60) + '\'';
}

std::uint64_t parse_number(const std::string& text, const char* option,
                           const char* field) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::result_out_of_range && stop == end) {
    throw invalid(field, std::string(option) + " is too large: " + shown(text));
  }
  if (error != std::errc() || stop != end) {
    throw invalid(field, std::string(option) +
                             " takes a whole number in digits, not " +
                             shown(text));
  }
  return number;
}

std::optional<std::uint64_t> parse_number(
    const std::optional<std::string>& text, const char* option,
    const char* field) {
  if (!text) return std::nullopt;
  return parse_number(*text, option, field);
}

namespace {

/// Closes what it opened; standard input stays.
class Input {
 public:
  explicit Input(int fd) : fd_(fd) {}
  ~Input() {
    if (fd_ > 0) ::close(fd_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

Error too_large(std::uint64_t size, std::uint64_t cap) {
  return Error(ErrorCode::state_too_large,
               "the input is larger than 8 times the cap of a state (" +
                   std::to_string(cap) +
                   " bytes); make it smaller, or raise "
                   "SATCHEL_MAX_STATE_BYTES",
               Json{{"size_bytes", size}, {"limit_bytes", cap}});
}

std::string read_up_to(const Input& input, std::uint64_t most,
                       std::uint64_t cap, const char* field,
                       const char* source) {
  std::string text;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t n = ::read(input.fd(), buffer.data(), buffer.size());
    if (n == 0) return text;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw invalid(field, std::string(source) + " cannot be read (" +
                               std::strerror(errno) + ")");
    }
    text.append(buffer, 0, static_cast<std::size_t>(n));
    if (text.size() > most) throw too_large(text.size(), cap);
  }
}

std::string read_raw(const std::string& argument, const char* field) {
  const std::uint64_t cap = max_state_bytes();
  const std::uint64_t most = 8 * cap;
  if (argument == "-") {
    return read_up_to(Input(0), most, cap, field, "standard input");
  }
  if (!argument.starts_with('@')) {
    if (argument.size() > most) throw too_large(argument.size(), cap);
    return argument;
  }
  const std::string path = argument.substr(1);
  const Input file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) {
    const char* reason = path.empty() ? "no name" : std::strerror(errno);
    throw invalid(field, std::string("the file after @ cannot be read (") +
                             reason +
                             "); give @FILE, JSON text, or - for "
                             "standard input");
  }
  struct stat info = {};
  if (::fstat(file.fd(), &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<std::uint64_t>(info.st_size) > most) {
    throw too_large(static_cast<std::uint64_t>(info.st_size), cap);
  }
  return read_up_to(file, most, cap, field, "the file after @");
}

}  // namespace

Result<Document> read_json(const std::string& argument, const char* field) {
  Result<Document> document = Document::parse(read_raw(argument, field));
  if (document.ok()) return document;
  Error error = document.error();
  if (error.details.contains("field")) error.details["field"] = field;
  return error;
}

}  // namespace satchel::tools
