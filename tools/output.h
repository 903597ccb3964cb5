#pragma once
// What the program prints.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "satchel/error.h"
#include "satchel/handle.h"

namespace satchel::tools {

/// A file descriptor does not take what is printed.
struct WriteFailure {
  int error;
};

/// Writes all of `text`; throws WriteFailure.
void write_all(int fd, std::string_view text);

/// One line "satchel: warning: …" on stderr; never fails.
void warn(const std::string& message);

/// The failure for people: one line with the remedy.
std::string failure_line(const Error& error, const std::string& place);

/// $COLUMNS, else the columns of the terminal that stdout is; none when it is
/// no terminal.
std::optional<std::size_t> terminal_width();

/// The state over several lines, safe to show.
std::string pretty_state(const Document& state);

/// 2026-07-28 09:30:12, UTC.
std::string date_text(Time time);
/// "never" or date_text.
std::string expiry_text(const std::optional<Time>& expires_at);

/// "saved H: version 2, expires never" and, on request, the state.
std::string mutation_text(std::string_view done, const Snapshot& snapshot);

/// Rows under a header, columns two spaces apart, cut to `width` (none: not
/// cut) by shortening the columns in `may_shrink`, in that order.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> may_shrink;

  std::size_t width() const;
  std::string text(std::optional<std::size_t> width) const;

 private:
  std::vector<std::size_t> column_widths() const;
};

}  // namespace satchel::tools
