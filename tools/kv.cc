// The key-value commands: satchel kv --app A COMMAND.

#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "satchel/objects.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/escape.h"
#include "tools/open.h"
#include "tools/output.h"
#include "tools/ttl.h"

namespace satchel::tools {
namespace {

constexpr std::uint32_t kPage = 1'000;

/// What may stand behind `kv`; each command has its own share of it.
struct Arguments {
  std::optional<std::string> app;
  std::string key;
  bool key_given = false;  // delete
  std::vector<std::string> keys;
  std::string value;
  std::optional<std::string> ttl;
  std::optional<std::string> by;
  bool if_absent = false;
  std::optional<std::string> expect_value;
  std::optional<std::string> prefix;
  std::optional<std::string> limit;
  std::optional<std::string> cursor;
};

/// The store of a run and the scope that the command is about.
struct Place {
  std::unique_ptr<HandleStore> store;
  std::unique_ptr<KvScope> kv;

  void close() { store->close().value(); }
};

Place place(Run& run, const Arguments& a, bool to_write) {
  const auto user = user_name(run.globals.user);
  writer_name(run.globals.writer);
  if (!a.app) {
    throw wrong_usage(
        "kv needs --app A, the name of the program whose keys these are");
  }
  Place place;
  place.store = to_write ? open_to_write(run) : open_to_read(run);
  place.kv = place.store->scope(user, *a.app).value();
  return place;
}

Outcome done(const Run& run, const std::string& object, std::string text,
             int exit_code = 0) {
  if (run.globals.json) return {object + '\n', {}, exit_code};
  return {std::move(text), {}, exit_code};
}

Error key_not_found(const std::string& key) {
  return {ErrorCode::key_not_found,
          "there is no key " + shown(key) +
              " in this app of this user; it was never set, deleted, or has "
              "expired",
          Json{{"key", escaped(key)}}};
}

/// JSON, where a word without quotes is a likely mistake.
Document value_of(const std::string& argument, const char* field) {
  auto value = read_json(argument, field);
  if (value.ok()) return *std::move(value);
  auto error = value.error();
  if (error.code == ErrorCode::invalid_input && argument != "-" &&
      !argument.starts_with('@')) {
    error.message +=
        " A value is JSON; text stands in double quotes: '\"text\"'.";
  }
  throw error;
}

std::int64_t step(const std::optional<std::string>& text) {
  if (!text) return 1;
  const bool negative = text->starts_with('-');
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  const auto size = std::min(
      parse_number(negative ? text->substr(1) : *text, "--by", "by"), kMost);
  return negative ? -static_cast<std::int64_t>(size)
                  : static_cast<std::int64_t>(size);
}

Outcome get(Run& run, const Arguments& a) {
  const auto at = place(run, a, false);
  const auto entry = at.kv->get(a.key).value();
  if (!entry) throw key_not_found(a.key);
  return done(run, to_object(a.key, *entry), pretty_state(entry->value));
}

Outcome set(Run& run, const Arguments& a) {
  KvSetOptions options;
  options.ttl = ttl_of(a.ttl, false);
  options.if_absent = a.if_absent;
  if (a.if_absent && a.expect_value) {
    throw wrong_usage(
        "--if-absent and --expect-value exclude each other; give one");
  }
  const auto value = value_of(a.value, "value");
  if (a.expect_value) {
    options.expect_value = value_of(*a.expect_value, "expect_value");
  }
  auto at = place(run, a, true);
  const auto expires_at = at.kv->set(a.key, value, options).value();
  at.close();
  return done(
      run, kv_set_object(a.key, expires_at),
      "set " + a.key + ": expires " + expiry_text(expires_at) + " UTC\n");
}

Outcome has(Run& run, const Arguments& a) {
  const auto at = place(run, a, false);
  const bool exists = at.kv->has(a.key).value();
  return done(run, kv_has_object(exists), exists ? "yes\n" : "no\n",
              exists ? 0 : 1);
}

Outcome remove(Run& run, const Arguments& a) {
  if (a.key_given == a.prefix.has_value()) {
    throw wrong_usage("kv delete needs either KEY or --prefix P");
  }
  auto at = place(run, a, true);
  if (a.prefix) {
    const auto removed = at.kv->remove_prefix(*a.prefix).value();
    at.close();
    return done(run, kv_removed_object(removed),
                "removed " + std::to_string(removed) +
                    (removed == 1 ? " key\n" : " keys\n"));
  }
  const bool removed = at.kv->remove(a.key).value();
  at.close();
  return done(run, kv_removed_object(removed),
              (removed ? "removed " : "there was no ") + a.key + '\n');
}

Outcome count(Run& run, const Arguments& a, bool up) {
  const KvCounterOptions options{.by = step(a.by), .ttl = ttl_of(a.ttl, false)};
  auto at = place(run, a, true);
  const auto value =
      (up ? at.kv->increment(a.key, options) : at.kv->decrement(a.key, options))
          .value();
  at.close();
  return done(run, kv_counter_object(a.key, value),
              std::to_string(value) + '\n');
}

std::string text_of(const KvPage& page) {
  if (page.keys.empty()) return "no keys\n";
  Table table{{"KEY", "EXPIRES (UTC)"}, {}, {0}};
  for (const auto& each : page.keys) {
    table.rows.push_back({escaped(each.key), expiry_text(each.expires_at)});
  }
  auto text = table.text(terminal_width());
  if (!page.cursor.empty()) {
    text += "more: the same command with --cursor " + page.cursor + '\n';
  }
  return text;
}

Outcome keys(Run& run, const Arguments& a) {
  KvKeysOptions options;
  options.prefix = a.prefix.value_or("");
  if (a.cursor && a.cursor->empty()) {
    throw invalid("cursor", "--cursor is empty; give a value or leave it out");
  }
  options.cursor = a.cursor.value_or("");
  const auto limit = parse_number(a.limit, "--limit", "limit");
  if (limit && (*limit < 1 || *limit > kPage)) {
    throw invalid("limit", "--limit is 1 to 1000; without it all are listed");
  }
  options.limit = static_cast<std::uint32_t>(limit.value_or(kPage));
  const auto at = place(run, a, false);
  auto all = at.kv->keys(options).value();
  while (!a.limit && !all.cursor.empty()) {
    options.cursor = all.cursor;
    auto next = at.kv->keys(options).value();
    std::move(next.keys.begin(), next.keys.end(), std::back_inserter(all.keys));
    all.cursor = std::move(next.cursor);
  }
  return done(run, to_object(all), text_of(all));
}

Outcome mget(Run& run, const Arguments& a) {
  const auto at = place(run, a, false);
  const auto entries = at.kv->mget(a.keys).value();
  Table table{{"KEY", "VALUE"}, {}, {1, 0}};
  for (const auto& [key, entry] : entries) {
    table.rows.push_back({escaped(key), escaped(entry.value.text())});
  }
  return done(run, to_object(entries),
              entries.empty() ? "no keys\n" : table.text(terminal_width()));
}

Outcome usage(Run& run, const Arguments& a) {
  const auto at = place(run, a, false);
  const auto usage = at.kv->usage().value();
  return done(run, to_object(usage),
              std::to_string(usage.used_bytes) + " of " +
                  std::to_string(usage.limit_bytes) + " bytes in " +
                  std::to_string(usage.key_count) +
                  (usage.key_count == 1 ? " key\n" : " keys\n"));
}

using Action = Outcome (*)(Run&, const Arguments&);

CLI::App* add(CLI::App* kv, const std::shared_ptr<Arguments>& a, Run& run,
              const char* name, const char* what, const std::string& example,
              Action action) {
  CLI::App* command =
      add_command(*kv, name, what, "satchel kv --app mailer " + example);
  run.actions[command] = [a, &run, action] {
    try {
      return action(run, *a);
    } catch (const Error& error) {
      throw with_kv_code(error);
    }
  };
  return command;
}

void add_key(CLI::App* command, Arguments& a) {
  add_positional(command, "KEY", a.key, "Letters, digits and _ . : - /");
}

void add_ttl(CLI::App* command, Arguments& a) {
  add_value(command, "--ttl", a.ttl, "Required: 90s 15m 12h 7d, at most 90d",
            "T");
}

void add_counter(CLI::App* command, Arguments& a) {
  add_key(command, a);
  add_ttl(command, a);
  add_value(command, "--by", a.by, "How much; else 1", "N");
}

}  // namespace

void add_kv(CLI::App& app, Run& run) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* kv =
      add_command(app, "kv", "Small expiring keys of an app",
                  "satchel kv --app mailer incr sent --ttl 1d\n"
                  "  satchel kv --app mailer set theme '\"dark\"' --ttl 90d");
  kv->require_subcommand(1);
  add_value(kv, "--app", a->app, "Whose keys these are; required", "A");
  auto* c = add(kv, a, run, "get", "Print a value", "get theme", get);
  add_key(c, *a);
  c = add(kv, a, run, "set", "Store a value", "set theme '\"dark\"' --ttl 90d",
          set);
  add_key(c, *a);
  add_positional(c, "VALUE", a->value, "JSON, - (standard input) or @FILE");
  add_ttl(c, *a);
  add_switch(c, "--if-absent", a->if_absent, "Only when the key is not there");
  add_value(c, "--expect-value", a->expect_value,
            "Only when the key holds this value", "V");
  c = add(kv, a, run, "has", "Whether a key is there (exit code 0 or 1)",
          "has seen:42", has);
  add_key(c, *a);
  c = add(kv, a, run, "delete", "Remove a key, or all with a prefix",
          "delete --prefix seen:", remove);
  c->add_option_function<std::string>(
       "KEY",
       [a](const std::string& key) { a->key = key, a->key_given = true; },
       "Letters, digits and _ . : - /")
      ->type_name("")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_value(c, "--prefix", a->prefix,
            "All keys that begin so; '' is every key of the app", "P");
  c = add(kv, a, run, "incr", "Add to a counter and print it",
          "incr sent --ttl 1d",
          [](Run& r, const Arguments& b) { return count(r, b, true); });
  add_counter(c, *a);
  c = add(kv, a, run, "decr", "Subtract from a counter and print it",
          "decr left --by 5 --ttl 1d",
          [](Run& r, const Arguments& b) { return count(r, b, false); });
  add_counter(c, *a);
  c = add(kv, a, run, "keys", "Show the keys, in the order of their bytes",
          "keys --prefix seen: --limit 20", keys);
  add_value(c, "--prefix", a->prefix, "Only keys that begin so", "P");
  add_value(c, "--limit", a->limit,
            "One page of at most N (1 to 1000); else all", "N");
  add_value(c, "--cursor", a->cursor, "Go on after an earlier page", "C");
  c = add(kv, a, run, "mget", "Print several values", "mget theme sent", mget);
  c->add_option("KEY", a->keys, "At most 100")->required()->type_name("");
  add(kv, a, run, "usage", "How much the app holds of its limit", "usage",
      usage);
}

}  // namespace satchel::tools
