// The audit log: what stands in it, who may read it, and what happens when it
// is full or cannot be written.

#include "tools/serve/audit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>
#include <vector>

#include "satchel/error.h"
#include "tests/support/fixture.h"

namespace satchel::tools::serve {
namespace {

using test::TemporaryFolder;

Caller alice() {
  Caller caller;
  caller.user = "jwt:alice";
  caller.client = "laptop";
  return caller;
}

std::vector<std::string> lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) all.push_back(line);
  return all;
}

mode_t mode_of(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 0777;
}

TEST(AuditTest, ALineSaysWhoDidWhat) {
  const TemporaryFolder folder;
  const auto path = (folder.path() / "audit").string();
  AuditLog log(path, false);
  log.write({"state_save", "note_abcdefgh", 3, 4, "ok", "r1"}, alice());
  log.write({"kv.set", {}, {}, {}, "quota_exceeded", {}}, alice());
  const auto all = lines(path);
  ASSERT_EQ(all.size(), 2u);
  auto first = Json::parse(all[0]);
  EXPECT_EQ(first["time"].get<std::string>().size(), 27u);
  first.erase("time");
  EXPECT_EQ(first.dump(),
            R"({"user":"jwt:alice","client":"laptop","tool":"state_save",)"
            R"("handle":"note_abcdefgh","version_before":3,)"
            R"("version_after":4,"outcome":"ok","request_id":"r1"})");
  auto second = Json::parse(all[1]);
  second.erase("time");
  EXPECT_EQ(second.dump(),
            R"({"user":"jwt:alice","client":"laptop","tool":"kv.set",)"
            R"("outcome":"quota_exceeded"})");
}

TEST(AuditTest, OnlyTheOwnerMayReadIt) {
  const TemporaryFolder folder;
  const auto fresh = (folder.path() / "fresh").string();
  const auto loose = (folder.path() / "loose").string();
  std::ofstream(loose) << "{}\n";
  ASSERT_EQ(::chmod(loose.c_str(), 0644), 0);
  AuditLog(fresh, false).write({}, alice());
  AuditLog(loose, false).write({}, alice());
  EXPECT_EQ(mode_of(fresh), 0600u);
  EXPECT_EQ(mode_of(loose), 0600u);
  EXPECT_EQ(lines(loose).size(), 2u);
}

TEST(AuditTest, AFullFileIsPutAsideAndTenAreKept) {
  const TemporaryFolder folder;
  const auto path = (folder.path() / "audit").string();
  for (int i = 1; i <= 10; ++i) {
    std::ofstream(path + '.' + std::to_string(i)) << i << '\n';
  }
  std::ofstream(path).close();
  std::filesystem::resize_file(path, AuditLog::kFullBytes - 1);
  AuditLog log(path, false);
  log.write({"state_load", {}, {}, {}, "ok", {}}, alice());
  EXPECT_EQ(lines(path).size(), 1u);
  EXPECT_EQ(std::filesystem::file_size(path + ".1"), AuditLog::kFullBytes - 1);
  for (int i = 2; i <= 10; ++i) {
    EXPECT_EQ(lines(path + '.' + std::to_string(i)),
              std::vector<std::string>{std::to_string(i - 1)});
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".11"));
}

TEST(AuditTest, ProcessesThatShareAFileFollowItWhenItIsPutAside) {
  const TemporaryFolder folder;
  const auto path = (folder.path() / "audit").string();
  AuditLog one(path, false);
  AuditLog other(path, false);
  one.write({"state_load", {}, {}, {}, "ok", {}}, alice());
  std::filesystem::resize_file(path, AuditLog::kFullBytes - 1);
  other.write({"state_list", {}, {}, {}, "ok", {}}, alice());
  EXPECT_EQ(lines(path).size(), 1u);
  one.write({"state_load", {}, {}, {}, "ok", {}}, alice());
  EXPECT_EQ(lines(path).size(), 2u);
  EXPECT_EQ(std::filesystem::file_size(path + ".1"), AuditLog::kFullBytes - 1);
}

TEST(AuditTest, WhatCannotBeWrittenFailsTheCallUnlessBestEffort) {
  // Takes no byte.
  EXPECT_THROW(AuditLog("/dev/full", false).write({}, alice()), Error);
  EXPECT_NO_THROW(AuditLog("/dev/full", true).write({}, alice()));
  const TemporaryFolder folder;
  const auto nowhere = (folder.path() / "missing" / "audit").string();
  EXPECT_THROW(AuditLog(nowhere, false), Error);
  EXPECT_NO_THROW(AuditLog(nowhere, true).write({}, alice()));
}

TEST(AuditTest, LinesOfManyThreadsStayWhole) {
  const TemporaryFolder folder;
  const auto path = (folder.path() / "audit").string();
  AuditLog log(path, false);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        log.write({"state_list", {}, {}, {}, "ok", "id"}, alice());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto all = lines(path);
  EXPECT_EQ(all.size(), 800u);
  for (const auto& line : all) {
    EXPECT_EQ(Json::parse(line).value("outcome", ""), "ok");
  }
}

}  // namespace
}  // namespace satchel::tools::serve
