#pragma once
// The text of the file SATCHEL (FORMAT.md, "Folder").

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace satchel::storage {

/// More bytes than any SATCHEL of this format has.
inline constexpr std::size_t kFolderFileLimit = 4096;

struct FolderFile {
  std::uint32_t format = 0;
  std::string id;  // 32 hex digits
};

std::string encode_folder_file(const FolderFile& file);

/// Throws Failure: format_too_new when the first line names a later format,
/// whatever follows; else corrupt unless every byte is as it was written.
FolderFile decode_folder_file(std::string_view text);

}  // namespace satchel::storage
