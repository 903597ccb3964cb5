#include "tools/serve/tokens.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "api/utf8.h"
#include "satchel/document.h"
#include "satchel/error.h"
#include "tools/serve/principal.h"

namespace satchel::tools::serve {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxNameBytes = 256;

Error refused(const std::string& what) {
  return {ErrorCode::invalid_input,
          "the tokens file: " + what,
          {{"field", "tokens"}}};
}

/// An optional name of an entry.
std::string name_of(const Json& entry, const char* member,
                    const std::string& place) {
  if (!entry.contains(member) || entry[member].is_null()) return {};
  const auto* text = entry[member].get_ptr<const std::string*>();
  if (!text || text->empty() || text->size() > kMaxNameBytes ||
      has_control_character(*text)) {
    throw refused(place + '.' + member +
                  " is 1 to 256 bytes of text without control characters");
  }
  return *text;
}

std::vector<std::string> scopes_of(const Json& entry,
                                   const std::string& place) {
  std::vector<std::string> scopes;
  if (!entry.contains("scopes") || entry["scopes"].is_null()) return scopes;
  const bool list = entry["scopes"].is_array();
  for (const Json& scope : list ? entry["scopes"] : Json::array({Json()})) {
    const auto* text = scope.get_ptr<const std::string*>();
    if (!text) throw refused(place + ".scopes is a list of strings");
    scopes.push_back(*text);
  }
  return scopes;
}

TokenEntry entry_of(const Json& json, const std::string& place) {
  if (!json.is_object()) throw refused(place + " is an object");
  static const std::set<std::string> known = {"sha256", "user", "app", "client",
                                              "scopes"};
  for (const auto& [member, value] : json.items()) {
    if (!known.contains(member)) {
      throw refused(place +
                    " has a member that is not known; known are "
                    "sha256, user, app, client, scopes");
    }
  }
  TokenEntry entry;
  const auto* text = json.contains("sha256")
                         ? json["sha256"].get_ptr<const std::string*>()
                         : nullptr;
  const auto digest = text ? digest_from_hex(*text) : std::nullopt;
  if (!digest) {
    throw refused(place +
                  ".sha256 is the SHA-256 of the token as 64 hex digits");
  }
  entry.digest = *digest;
  entry.user = name_of(json, "user", place);
  if (!storage_user({Principal::Source::token, "", entry.user, ""},
                    ScopeBy::user)) {
    throw refused(place + ".user is missing");
  }
  entry.app = name_of(json, "app", place);
  entry.client = name_of(json, "client", place);
  entry.scopes = scopes_of(json, place);
  return entry;
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string read_private(const std::string& path) {
  const Descriptor file{
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) {
    throw refused("cannot be opened: " + std::string(std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) throw refused("is not a regular file");
  if (status.st_mode & (S_IRWXG | S_IRWXO)) {
    throw refused("is open to others than its owner; chmod 600 it");
  }
  std::string text;
  char buffer[65536];
  for (;;) {
    const auto n = ::read(file.fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw refused("cannot be read: " + std::string(std::strerror(errno)));
    }
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > kMaxFileBytes) throw refused("is over 16 MiB");
  }
}

}  // namespace

std::vector<TokenEntry> parse_tokens(std::string_view text) {
  const auto document = Document::parse(text);
  if (!document) throw refused("is no JSON: " + document.error().message);
  const Json& root = document->json();
  if (!root.is_object() || root.size() != 1 || !root.contains("tokens") ||
      !root["tokens"].is_array()) {
    throw refused(R"(is an object {"tokens":[…]} with nothing beside it)");
  }
  std::vector<TokenEntry> entries;
  std::set<Digest> seen;
  for (const Json& json : root["tokens"]) {
    const auto place = "tokens[" + std::to_string(entries.size()) + ']';
    entries.push_back(entry_of(json, place));
    if (!seen.insert(entries.back().digest).second) {
      throw refused(place + ".sha256 is that of an earlier entry");
    }
  }
  return entries;
}

TokenFile::TokenFile(std::string path) : path_(std::move(path)) { reload(); }

void TokenFile::reload() {
  auto entries =
      std::make_shared<const Entries>(parse_tokens(read_private(path_)));
  const std::lock_guard lock(mutex_);
  entries_ = std::move(entries);
}

std::shared_ptr<const TokenFile::Entries> TokenFile::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

std::optional<TokenEntry> TokenFile::find(std::string_view token) const {
  const auto entries = this->entries();
  const Digest digest = sha256(token);
  const TokenEntry* found = nullptr;
  for (const TokenEntry& entry : *entries) {
    if (same(entry.digest, digest)) found = &entry;
  }
  if (!found) return {};
  return *found;
}

}  // namespace satchel::tools::serve
