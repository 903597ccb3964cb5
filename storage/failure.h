#pragma once
// How storage/ reports what went wrong: by throwing a Failure. api/ turns it
// into the public Error at its boundary; nothing throws out of the library.

#include <cstdint>
#include <stdexcept>
#include <string>

namespace satchel::storage {

struct Failure : std::runtime_error {
  enum class Kind : std::uint8_t {
    corrupt,         // stored bytes do not verify
    io,              // the disk or RocksDB refused
    no_space,        // the disk is full
    no_permission,   // the folder or a file in it cannot be used
    read_only,       // an earlier write failed, or opened read-only
    not_a_store,     // foreign content
    format_too_new,  // made by a newer program
    locked,          // another open holds the store; `pid` when known
    other_identity,  // made for another rule of who owns what
  };

  /// `message` holds no path: it may reach a client.
  Failure(Kind k, const std::string& message, std::int64_t owner = 0)
      : std::runtime_error(message), kind(k), pid(owner) {}

  Kind kind;
  std::int64_t pid;
};

}  // namespace satchel::storage
