#pragma once
// What makes a folder a store: the file SATCHEL (FORMAT.md, "Folder").

#include <cstdint>
#include <string>

namespace satchel::storage {

struct FileSystemHandle;

inline constexpr std::uint32_t folder_format = 1;

enum class FolderState : std::uint8_t {
  missing,      // nothing at the path
  empty,        // a folder without content; leftovers of a creation count so
  interrupted,  // SATCHEL is there, RocksDB's CURRENT and MANIFEST not yet
  complete,     // a store
};

struct FolderInfo {
  FolderState state = FolderState::missing;
  std::uint32_t format = 0;  // 0 unless interrupted or complete
  std::string id;            // 32 hex digits; empty unless the same
};

/// What is at `path`; changes not one byte there. Symbolic links on the way
/// to the folder are followed, SATCHEL itself has to be a regular file.
/// Throws Failure: not_a_store (a file, a link that leads nowhere, other
/// content), format_too_new (goes by the number in the first line, whatever
/// follows), corrupt (SATCHEL is damaged, or data without CURRENT),
/// no_permission, io.
FolderInfo look_at_folder(const std::string& path);

/// Makes `path`, which was missing or empty, a store: the folder and its
/// parents (0700 each that is made), then SATCHEL, atomically and synced.
/// When another creator was first, its SATCHEL stands and is returned. Look
/// again once the FolderLock is held: the other may have gone on.
/// Throws Failure: no_permission before anything is created; not_a_store,
/// no_space, io, and what look_at_folder throws.
FolderInfo create_folder(const std::string& path, const FileSystemHandle& fs);

/// Takes every right of group and others from the folder and the files in it
/// that this user owns. Never fails: what cannot be changed stays as it is.
/// Only the holder of the FolderLock calls it.
void tighten_permissions(const std::string& path);

/// Removes what killed creators left behind. Only the holder of the
/// FolderLock calls it; a creator at work elsewhere copes.
void remove_leftovers(const std::string& path, const FileSystemHandle& fs);

}  // namespace satchel::storage
