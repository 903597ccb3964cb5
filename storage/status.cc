#include "storage/status.h"

#include <string>

#include "storage/failure.h"

namespace satchel::storage {

void raise(const rocksdb::Status& status, const char* operation) {
  const std::string what = operation;
  if (status.IsNoSpace()) {
    throw Failure(Failure::Kind::no_space,
                  "could not " + what +
                      ": the disk is full; free some space, then try again");
  }
  if (status.IsIOError() &&
      status.ToString().find("Permission denied") != std::string::npos) {
    throw Failure(Failure::Kind::no_permission,
                  "could not " + what +
                      ": no permission for the store's folder or a file in it");
  }
  if (status.IsCorruption()) {
    throw Failure(Failure::Kind::corrupt,
                  "could not " + what +
                      ": stored bytes do not verify; the store is damaged");
  }
  if (status.IsPathNotFound()) {
    throw Failure(Failure::Kind::corrupt,
                  "could not " + what +
                      ": a file of the store is missing; restore a backup");
  }
  if (status.IsNotSupported() || status.IsShutdownInProgress()) {
    throw Failure(Failure::Kind::read_only,
                  "could not " + what + ": the store takes no writes");
  }
  throw Failure(Failure::Kind::io,
                "could not " + what +
                    ": the disk or the file system refused it; see the file "
                    "LOG in the store's folder");
}

}  // namespace satchel::storage
