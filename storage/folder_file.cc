#include "storage/folder_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdio>

#include "storage/failure.h"
#include "storage/folder.h"

namespace satchel::storage {

namespace {

constexpr std::string_view kFirst = "satchel format ";

[[noreturn]] void damaged() {
  throw Failure(Failure::Kind::corrupt,
                "the file SATCHEL in the store's folder is damaged; restore it "
                "from a backup, and keep the folder as it is");
}

/// The number in the first line, and nothing beyond 10 digits of it.
std::uint64_t format_of(std::string_view text) {
  if (text.substr(0, kFirst.size()) != kFirst) damaged();
  text.remove_prefix(kFirst.size());
  const auto digits = text.substr(0, text.find('\n'));
  const bool whole = digits.size() < text.size();
  if (digits.empty() || !whole || digits.front() == '0' ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    damaged();
  }
  std::uint64_t number = 0;
  for (const char c : digits.substr(0, 10)) {
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

}  // namespace

std::string encode_folder_file(const FolderFile& file) {
  std::string text = std::string(kFirst) + std::to_string(file.format) +
                     "\nid " + file.id + "\n";
  std::array<char, 17> check{};
  std::snprintf(
      check.data(), check.size(), "%016llx",
      static_cast<unsigned long long>(XXH3_64bits(text.data(), text.size())));
  return text + "check " + check.data() + "\n";
}

FolderFile decode_folder_file(std::string_view text) {
  const auto number = format_of(text);
  if (number > folder_format) {
    throw Failure(Failure::Kind::format_too_new,
                  "the store has format " + std::to_string(number) +
                      ", this program reads up to format " +
                      std::to_string(folder_format) +
                      "; use a newer program. Nothing was changed");
  }
  constexpr std::string_view kId = "\nid ";
  FolderFile file{static_cast<std::uint32_t>(number), {}};
  const auto id = text.find('\n') + kId.size();
  if (id + 32 > text.size()) damaged();
  file.id = text.substr(id, 32);
  if (file.id.find_first_not_of("0123456789abcdef") != std::string::npos ||
      encode_folder_file(file) != text) {
    damaged();
  }
  return file;
}

}  // namespace satchel::storage
