#include "tools/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "satchel/objects.h"
#include "tools/environment.h"
#include "tools/escape.h"

namespace satchel::tools {
namespace {

/// Narrower than this no column is cut.
constexpr std::size_t kNarrowest = 6;

bool is_about_the_store(const Error& error) {
  switch (error.code) {
    case ErrorCode::store_corrupt:
    case ErrorCode::backend_error:
    case ErrorCode::internal_error:
    case ErrorCode::read_only:
    case ErrorCode::format_too_new:
    case ErrorCode::not_a_store:
    case ErrorCode::store_locked:
      return true;
    case ErrorCode::invalid_input:
      return error.details.value("field", "") == "store";
    default:
      return false;
  }
}

std::string stale_write_text(const Error& error) {
  const auto current = error.details.find("current");
  if (current == error.details.end() || !current->is_object()) return {};
  const std::string handle = current->value("handle", "");
  const std::string writer = current->value("last_writer", "");
  const std::string version =
      std::to_string(current->value("version", std::uint64_t{0}));
  const auto expected = error.details.find("expected_version");
  return handle + " is at version " + version +
         (writer.empty() ? "" : ", written by " + writer) +
         (expected == error.details.end() ? std::string()
                                          : ", not " + expected->dump()) +
         ": nothing was changed. Read it with `satchel get " + handle +
         "`, put your change in, and try again with --expect-version " +
         version;
}

}  // namespace

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw WriteFailure{errno};
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void warn(const std::string& message) {
  try {
    write_all(STDERR_FILENO, "satchel: warning: " + escaped(message) + '\n');
  } catch (const WriteFailure&) {
    // Nobody is left to tell.
  }
}

std::string failure_line(const Error& error, const std::string& place) {
  std::string text;
  if (error.code == ErrorCode::stale_write) text = stale_write_text(error);
  if (text.empty()) text = error.message;
  if (!place.empty() && is_about_the_store(error)) {
    text += " (store: " + place + ")";
  }
  return "satchel: " + escaped(text) + '\n';
}

std::optional<std::size_t> terminal_width() {
  if (const auto columns = variable("COLUMNS")) {
    std::size_t width = 0;
    const char* end = columns->data() + columns->size();
    const auto [stop, error] = std::from_chars(columns->data(), end, width);
    if (error == std::errc() && stop == end && width > 0) return width;
  }
  winsize size{};
  if (!::isatty(STDOUT_FILENO)) return std::nullopt;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return 80;
  }
  return size.ws_col;
}

std::string pretty_state(const Document& state) {
  return escaped(pretty(state), /*keep_newlines=*/true) + '\n';
}

std::string date_text(Time time) {
  std::string text = to_rfc3339(time).substr(0, 19);
  text[10] = ' ';
  return text;
}

std::string expiry_text(const std::optional<Time>& expires_at) {
  return expires_at ? date_text(*expires_at) : "never";
}

std::string mutation_text(std::string_view done, const Snapshot& snapshot) {
  std::string text = std::string(done) + ' ' + escaped(snapshot.handle) +
                     ": version " + std::to_string(snapshot.version) +
                     ", expires " + expiry_text(snapshot.expires_at) +
                     (snapshot.expires_at ? " UTC\n" : "\n");
  if (snapshot.state) text += pretty_state(*snapshot.state);
  return text;
}

std::vector<std::size_t> Table::column_widths() const {
  std::vector<std::size_t> widths;
  for (const auto& cell : header) widths.push_back(width_of(cell));
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  return widths;
}

std::size_t Table::width() const {
  std::size_t total = 0;
  for (const std::size_t w : column_widths()) total += w + 2;
  return total - 2;
}

std::string Table::text(std::optional<std::size_t> most) const {
  std::vector<std::size_t> widths = column_widths();
  std::size_t total = width();
  for (const std::size_t column : may_shrink) {
    if (!most || total <= *most) break;
    const std::size_t spare =
        widths[column] - std::min(widths[column], kNarrowest);
    const std::size_t cut = std::min(spare, total - *most);
    widths[column] -= cut;
    total -= cut;
  }
  std::string out;
  const auto add = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = most ? fitted(cells[i], widths[i]) : cells[i];
      line += cell + std::string(widths[i] + 2 - width_of(cell), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  add(header);
  for (const auto& row : rows) add(row);
  return out;
}

}  // namespace satchel::tools
