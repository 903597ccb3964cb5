#pragma once
// The tokens file: opaque bearer tokens, by their SHA-256, and who they are.
//   {"tokens":[{"sha256":HEX,"user":…,"app":…,"client":…,"scopes":[…]}]}

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/digest.h"

namespace satchel::tools::serve {

struct TokenEntry {
  Digest digest;
  std::string user;
  /// For the key-value wire; "" when the entry names none.
  std::string app;
  std::string client;
  std::vector<std::string> scopes;
};

/// The entries of such text. Throws invalid_input(tokens) that names what is
/// wrong by its place, never by a digest.
std::vector<TokenEntry> parse_tokens(std::string_view text);

/// A tokens file that can be read again while it is used. Thread-safe.
class TokenFile {
 public:
  /// Throws invalid_input(tokens): no such file, open to others than its owner
  /// (mode 0600 is asked for), or not what parse_tokens reads.
  explicit TokenFile(std::string path);

  /// Reads the file again; on a failure (the same Errors) the entries stay as
  /// they were.
  void reload();

  /// Looks at every entry, whatever the token, so that the time tells nothing.
  std::optional<TokenEntry> find(std::string_view token) const;

 private:
  using Entries = std::vector<TokenEntry>;
  std::shared_ptr<const Entries> entries() const;

  const std::string path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Entries> entries_;
};

}  // namespace satchel::tools::serve
