#include <iterator>
#include <memory>
#include <utility>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/escape.h"
#include "tools/open.h"
#include "tools/output.h"

namespace satchel::tools {
namespace {

constexpr std::uint32_t kPage = 1'000;

struct Arguments {
  std::optional<std::string> kind;
  bool include_expired = false;
  std::optional<std::string> limit;
  std::optional<std::string> cursor;
};

ListOptions options_of(const Arguments& a) {
  ListOptions options;
  const auto refuse_empty = [](const std::optional<std::string>& given,
                               const char* field) {
    if (given && given->empty()) {
      throw invalid(field, std::string("--") + field +
                               " is empty; give a value or leave it out");
    }
  };
  refuse_empty(a.kind, "kind");
  refuse_empty(a.cursor, "cursor");
  options.kind = a.kind.value_or("");
  options.cursor = a.cursor.value_or("");
  options.include_expired = a.include_expired;
  const auto limit = parse_number(a.limit, "--limit", "limit");
  if (limit && (*limit < 1 || *limit > kPage)) {
    throw invalid("limit", "--limit is 1 to 1000; without it all are listed");
  }
  options.limit = static_cast<std::uint32_t>(limit.value_or(kPage));
  return options;
}

std::string ago(std::chrono::microseconds time) {
  using namespace std::chrono;
  const auto s = duration_cast<seconds>(time).count();
  if (s < 60) return std::to_string(s) + "s";
  if (s < 3600) return std::to_string(s / 60) + "m";
  if (s < 86400) return std::to_string(s / 3600) + "h";
  return std::to_string(s / 86400) + "d";
}

/// "in 6d", "2h ago" or "never", as seen from `now`.
std::string relative(const std::optional<Time>& time, Time now) {
  if (!time) return "never";
  return *time > now ? "in " + ago(*time - now) : ago(now - *time) + " ago";
}

/// With times in full, or short ones (seen from `now`) for a narrow terminal.
Table table_of(const ListPage& page, std::optional<Time> now) {
  Table table{{"HANDLE", "KIND", now ? "VER" : "VERSION", "UPDATED", "EXPIRES",
               "WRITER"},
              {},
              {1, 5}};
  if (!now) table.header[3] += " (UTC)", table.header[4] += " (UTC)";
  for (const HandleInfo& info : page.handles) {
    table.rows.push_back(
        {escaped(info.handle), escaped(info.kind), std::to_string(info.version),
         now ? relative(info.updated_at, *now) : date_text(info.updated_at),
         now ? relative(info.expires_at, *now) : expiry_text(info.expires_at),
         escaped(info.last_writer)});
  }
  return table;
}

std::string text_of(const ListPage& page, const std::string& user) {
  if (page.handles.empty()) {
    return "no handles of user " + shown(user) +
           "; `satchel mint KIND STATE` makes one\n";
  }
  const auto width = terminal_width();
  Table table = table_of(page, std::nullopt);
  if (width && table.width() > *width) {
    table = table_of(page, system_clock()->now());
  }
  std::string text = table.text(width);
  if (!page.cursor.empty()) {
    text += "more: the same command with --cursor " + page.cursor + '\n';
  }
  return text;
}

Outcome list(Run& run, const Arguments& a) {
  const std::string user = user_name(run.globals.user);
  writer_name(run.globals.writer);
  ListOptions options = options_of(a);
  const auto store = open_to_read(run);
  ListPage all = store->list(user, options).value();
  while (!a.limit && !all.cursor.empty()) {
    options.cursor = all.cursor;
    ListPage next = store->list(user, options).value();
    std::move(next.handles.begin(), next.handles.end(),
              std::back_inserter(all.handles));
    all.cursor = std::move(next.cursor);
  }
  return {run.globals.json ? to_object(all) + '\n' : text_of(all, user), {}, 0};
}

}  // namespace

void add_list(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* command =
      add_command(app, "list", "Show the user's handles, newest update first",
                  "satchel list --kind research --limit 20");
  add_value(command, "--kind", a->kind, "Only this kind", "K");
  add_switch(command, "--include-expired", a->include_expired,
             "Also those that no sweep has removed yet");
  add_value(command, "--limit", a->limit,
            "One page of at most N (1 to 1000); else all", "N");
  add_value(command, "--cursor", a->cursor, "Go on after an earlier page", "C");
  run.actions[command] = [a, &run] { return list(run, *a); };
}

}  // namespace satchel::tools
