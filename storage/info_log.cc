#include "storage/info_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string_view>

namespace satchel::storage {

namespace {

/// RocksDB's numbers and ids have fewer digits than the keys worth hiding.
constexpr std::size_t kLongHex = 20;

/// `text` with longer runs of hex digits blanked, and no control characters.
std::string without_keys(std::string_view text) {
  std::string out;
  std::size_t run = 0;  // where hex digits began in `out`
  const auto end_run = [&] {
    if (out.size() - run >= kLongHex) out.replace(run, std::string::npos, "*");
  };
  for (const char c : text) {
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) {
      end_run();
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
      run = out.size();
    } else {
      out += c;
    }
  }
  end_run();
  return out;
}

/// For people; nothing goes by it.
std::string time_stamp() {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  struct tm parts {};
  ::gmtime_r(&now.tv_sec, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ ", &parts);
  return text.data();
}

class BoundedLog final : public rocksdb::Logger {
 public:
  BoundedLog(const std::string& folder, std::size_t cap)
      : Logger(rocksdb::WARN_LEVEL), path_(folder + "/LOG"), cap_(cap) {}
  ~BoundedLog() override { close_file(); }

  using Logger::Logv;
  void LogHeader(const char*, va_list) override {}
  void Logv(const char* format, va_list arguments) override {
    write(format, arguments);
  }
  void Logv(rocksdb::InfoLogLevel level, const char* format,
            va_list arguments) override {
    const bool wanted =
        level >= rocksdb::WARN_LEVEL && level != rocksdb::HEADER_LEVEL;
    if (wanted) write(format, arguments);
  }
  rocksdb::Status Close() override {
    const std::lock_guard lock(mutex_);
    close_file();
    done_ = true;
    return rocksdb::Status::OK();
  }

 private:
  void write(const char* format, va_list arguments) {
    std::array<char, 2048> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    const auto line = time_stamp() + without_keys(text.data()) + "\n";
    const std::lock_guard lock(mutex_);
    if (done_) return;
    if (fd_ < 0) open_file();
    if (fd_ >= 0 && size_ > 0 && size_ + line.size() > cap_) {
      close_file();
      if (::rename(path_.c_str(), (path_ + ".old").c_str()) != 0) {
        (void)!::truncate(path_.c_str(), 0);
      }
      open_file();
    }
    if (fd_ < 0) return;
    const auto written = ::write(fd_, line.data(), line.size());
    if (written > 0) size_ += static_cast<std::size_t>(written);
  }
  void open_file() {
    fd_ = ::open(
        path_.c_str(),
        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
        0600);
    struct stat info {};
    if (fd_ < 0) return;
    if (::fchmod(fd_, 0600) != 0 || ::fstat(fd_, &info) != 0 ||
        !S_ISREG(info.st_mode)) {
      return close_file();
    }
    size_ = static_cast<std::size_t>(info.st_size);
  }
  void close_file() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  const std::string path_;
  const std::size_t cap_;
  std::mutex mutex_;
  bool done_ = false;
  int fd_ = -1;
  std::size_t size_ = 0;
};

class NullLog final : public rocksdb::Logger {
 public:
  NullLog() : Logger(rocksdb::FATAL_LEVEL) {}
  using Logger::Logv;
  void LogHeader(const char*, va_list) override {}
  void Logv(const char*, va_list) override {}
  void Logv(rocksdb::InfoLogLevel, const char*, va_list) override {}
  rocksdb::Status Close() override { return rocksdb::Status::OK(); }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_info_log(const std::string& folder,
                                               std::size_t cap) {
  return std::make_shared<BoundedLog>(folder, cap);
}

std::shared_ptr<rocksdb::Logger> make_null_log() {
  return std::make_shared<NullLog>();
}

}  // namespace satchel::storage
