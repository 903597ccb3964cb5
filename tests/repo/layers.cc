#include "layers.h"

#include <map>
#include <regex>
#include <set>

#include "files.h"

namespace satchel::repo {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::vector<std::string> includes;
  /// Without comments and the contents of literals.
  std::string code;
};

using Tree = std::map<std::string, Source>;

// The file of the tree that `include` in `file` means, or the include as it is
// written when it is not of the tree.
std::string resolve(const std::set<std::string>& files, const std::string& file,
                    const std::string& include) {
  for (const auto& candidate : {fs::path(file).parent_path() / include,
                                fs::path(include), fs::path("api") / include}) {
    const auto path = candidate.lexically_normal().generic_string();
    if (files.contains(path)) return path;
  }
  return include;
}

Tree read_tree(const fs::path& root) {
  static const std::regex include_line(
      "(?:^|\\n)[ \\t]*#[ \\t]*include[ \\t]*[<\"]([^>\"\\n]+)[>\"]");
  const auto list = source_files(root);
  const std::set<std::string> files(list.begin(), list.end());
  Tree tree;
  for (const auto& file : files) {
    const auto text = read_file(root / file);
    auto& source = tree[file];
    source.code = strip(text, false);
    const auto code = strip(text, true);
    for (std::sregex_iterator it(code.begin(), code.end(), include_line), end;
         it != end; ++it) {
      source.includes.push_back(resolve(files, file, (*it)[1]));
    }
  }
  return tree;
}

std::string layer(const std::string& path) {
  const auto folder = path.substr(0, path.find('/'));
  return folder == "satchel" ? "api" : folder;
}

bool edge_allowed(const std::string& file, const std::string& to) {
  static const std::map<std::string, std::set<std::string>> allowed = {
      {"storage", {"storage"}},
      {"api", {"api", "storage"}},
      {"tools", {"tools", "api"}},
      {"bench", {"bench", "api"}},
      {"tests", {"tests", "bench", "tools", "api", "storage"}}};
  if (!allowed.contains(to)) return true;
  if (file.starts_with("bench/raw_") && to == "storage") return true;
  return allowed.at(layer(file)).contains(to);
}

bool may_include_rocksdb(const std::string& file) {
  return file.starts_with("storage/") || file.starts_with("bench/raw_") ||
         file.starts_with("tests/storage/") ||
         file.starts_with("tests/support/fault_file_system.");
}

void check_includes(const Tree& tree, std::vector<std::string>& broken) {
  for (const auto& [file, source] : tree) {
    for (const auto& include : source.includes) {
      const auto to = layer(include);
      if (!edge_allowed(file, to) ||
          (to == "rocksdb" && !may_include_rocksdb(file))) {
        broken.push_back(file + ": must not include " + include);
      }
    }
  }
}

void collect(const Tree& tree, const std::string& file,
             std::set<std::string>& seen) {
  const auto found = tree.find(file);
  if (found == tree.end() || !seen.insert(file).second) return;
  for (const auto& include : found->second.includes) {
    collect(tree, include, seen);
  }
}

void check_engine_is_hidden(const Tree& tree,
                            std::vector<std::string>& broken) {
  static const std::regex engine("\\b(rocksdb|ROCKSDB_NAMESPACE)\\b");
  std::set<std::string> seen;
  for (const auto& [file, source] : tree) {
    if (layer(file) == "api") collect(tree, file, seen);
  }
  for (const auto& file : seen) {
    const auto& source = tree.at(file);
    bool named = std::regex_search(source.code, engine);
    for (const auto& include : source.includes) {
      named = named || layer(include) == "rocksdb";
    }
    if (layer(file) == "storage" && named) {
      broken.push_back(file + ": names RocksDB and is included by api/");
    }
  }
}

void check_words(const Tree& tree, std::vector<std::string>& broken) {
  static const std::regex wall_clock(
      "\\b(chrono\\s*::\\s*system_clock|system_clock\\s*::|gettimeofday"
      "|CLOCK_REALTIME|std::time\\b)");
  static const std::regex sleeping(
      "\\b(sleep|usleep|nanosleep|sleep_for|sleep_until)\\s*\\(");
  for (const auto& [file, source] : tree) {
    const bool may_ask =
        file == "api/clock.cc" || file == "storage/info_log.cc";
    if (!may_ask && std::regex_search(source.code, wall_clock)) {
      broken.push_back(file + ": asks the system's clock");
    }
    if (layer(file) == "tests" && std::regex_search(source.code, sleeping)) {
      broken.push_back(file + ": sleeps");
    }
  }
}

}  // namespace

std::vector<std::string> broken_rules(const fs::path& root) {
  const auto tree = read_tree(root);
  std::vector<std::string> broken;
  check_includes(tree, broken);
  check_engine_is_hidden(tree, broken);
  check_words(tree, broken);
  return broken;
}

}  // namespace satchel::repo
