#pragma once
// The layer rule: tools -> api -> storage -> RocksDB, and what goes with it.

#include <filesystem>
#include <string>
#include <vector>

namespace satchel::repo {

/// Reads every source file under `root` and returns what breaks a rule, each as
/// "file: what". The rules:
///  - storage/ includes storage/ only; api/ also storage/; tools/ and bench/
///    only their own and api/; bench/raw_* also storage/; tests/ everything.
///  - RocksDB's headers are included under storage/, in bench/raw_*,
///    tests/storage/ and tests/support/fault_file_system.* only.
///  - A header of storage/ that api/ includes, directly or not, does not name
///    RocksDB in its code.
///  - The system's wall clock is asked in api/clock.cc only, and in
///    storage/info_log.cc for stamps that nothing goes by.
///  - Tests do not sleep.
std::vector<std::string> broken_rules(const std::filesystem::path& root);

/// C++ `source` without comments, its other characters in place. The contents
/// of string and character literals go too, unless `keep_literals`.
std::string strip(const std::string& source, bool keep_literals);

}  // namespace satchel::repo
