#pragma once
// Words shared by the JSON tests.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "satchel/document.h"

namespace satchel::testing {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The folder of test data written by other people; may be absent.
inline std::filesystem::path shared_data() {
  if (const char* folder = std::getenv("SATCHEL_TEST_DATA")) return folder;
  const char* source = std::getenv("SATCHEL_SOURCE_DIR");
  return std::filesystem::path(source ? source : ".") / "../shared/data";
}

/// Canonical text of `text`, or the name of the error's code.
inline std::string canonical_of(std::string_view text) {
  const auto document = Document::parse(text);
  return document ? document->text() : std::string(name(document.error().code));
}

/// The `path` of the refusal of `text`; "accepted", "no path".
inline std::string refused_at(std::string_view text) {
  const auto document = Document::parse(text);
  if (document) return "accepted";
  const Json& details = document.error().details;
  EXPECT_EQ(details.value("field", ""), "state");
  return details.contains("path") ? details["path"].get<std::string>()
                                  : "no path";
}

inline std::string nested(int levels, std::string_view inner = "") {
  std::string text(static_cast<std::size_t>(levels), '[');
  text += inner;
  return text.append(static_cast<std::size_t>(levels), ']');
}

}  // namespace satchel::testing
