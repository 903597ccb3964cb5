#include "storage/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/failure.h"
#include "storage/file_system.h"
#include "storage/folder_file.h"
#include "storage/status.h"

namespace satchel::storage {

namespace {

using rocksdb::IOOptions;
using Kind = Failure::Kind;

constexpr std::string_view kTemporary = "SATCHEL.tmp-";

[[noreturn]] void not_a_store(const std::string& why) {
  throw Failure(Kind::not_a_store, why + "; nothing was changed there");
}

[[noreturn]] void raise_errno(int error, const char* what) {
  const std::string text = std::string("could not ") + what;
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      throw Failure(Kind::no_permission, text + ": no permission for it (" +
                                             std::strerror(error) + ")");
    case ENOTDIR:
    case ELOOP:
      not_a_store("a part of the store's path is not a folder");
    case ENOSPC:
    case EDQUOT:
      throw Failure(Kind::no_space, text + ": the disk is full");
    default:
      throw Failure(Kind::io, text + ": " + std::strerror(error));
  }
}

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string parent_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : without_trailing_slash(parent);
}

/// The nearest folder on the way to `path` that exists; `missing` gets what
/// is missing below it, outermost first.
std::string existing_part(const std::string& path,
                          std::vector<std::string>& missing) {
  std::string at = path;
  struct stat info {};
  while (::stat(at.c_str(), &info) != 0) {
    if (errno != ENOENT) raise_errno(errno, "use the store's folder");
    if (::lstat(at.c_str(), &info) == 0) {
      // Another creator made it just now.
      if (!S_ISLNK(info.st_mode)) continue;
      not_a_store("a part of the store's path is a link that leads nowhere");
    }
    missing.insert(missing.begin(), at);
    at = parent_of(at);
  }
  if (!S_ISDIR(info.st_mode)) {
    not_a_store("a part of the store's path is not a folder");
  }
  return at;
}

/// The folder's entries; none when there is nothing at the path.
std::optional<std::vector<std::string>> entries(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()),
                                                   &::closedir);
  if (folder == nullptr) {
    const int error = errno;
    if (error == ENOENT) {
      std::vector<std::string> missing;
      existing_part(path, missing);
      return std::nullopt;
    }
    if (error == ENOTDIR) not_a_store("the store's path is not a folder");
    raise_errno(error, "read the store's folder");
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) raise_errno(errno, "read the store's folder");
  return names;
}

std::string read_folder_file(const std::string& path) {
  // Neither a link is followed nor a pipe waited for.
  const int fd = ::open((path + "/SATCHEL").c_str(),
                        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) {
    if (errno == ELOOP) not_a_store("SATCHEL in the folder is a link");
    raise_errno(errno, "read SATCHEL in the store's folder");
  }
  const std::unique_ptr<const int, void (*)(const int*)> closer(
      &fd, [](const int* f) { ::close(*f); });
  struct stat info {};
  if (::fstat(fd, &info) != 0) raise_errno(errno, "read SATCHEL");
  if (!S_ISREG(info.st_mode)) {
    not_a_store("SATCHEL in the folder is not a regular file");
  }
  std::string text(kFolderFileLimit + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) raise_errno(errno, "read SATCHEL");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

bool has_suffix(const std::string& name, std::string_view suffix) {
  return name.size() >= suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

void fsync_folder(rocksdb::FileSystem& fs, const std::string& path) {
  std::unique_ptr<rocksdb::FSDirectory> folder;
  check(fs.NewDirectory(path, IOOptions(), &folder, nullptr),
        "create the store's folder");
  check(folder->Fsync(IOOptions(), nullptr), "create the store's folder");
}

/// The folders to make, outermost first. Checks before anything is made that
/// this user may.
std::vector<std::string> missing_folders(const std::string& path) {
  std::vector<std::string> missing;
  const auto at = existing_part(path, missing);
  if (::faccessat(AT_FDCWD, at.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    raise_errno(errno, "create the store: its folder cannot be written to");
  }
  return missing;
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  if (::getrandom(raw.data(), bytes, 0) != static_cast<ssize_t>(bytes)) {
    throw Failure(Kind::io, "the system gives no random bytes");
  }
  std::string hex;
  for (const char c : raw) {
    constexpr const char* kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

void write_synced(rocksdb::FileSystem& fs, const std::string& path,
                  const std::string& text) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  check(fs.NewWritableFile(path, rocksdb::FileOptions(), &file, nullptr),
        "create the store");
  check(file->Append(text, IOOptions(), nullptr), "create the store");
  check(file->Sync(IOOptions(), nullptr), "create the store");
  check(file->Close(IOOptions(), nullptr), "create the store");
}

/// SATCHEL by way of a file of its own name, so that it is whole from the
/// start and never replaces another's.
void put_folder_file(rocksdb::FileSystem& fs, const std::string& path) {
  const std::string target = path + "/SATCHEL";
  const std::string temporary =
      path + "/" + std::string(kTemporary) + random_hex(8);
  const auto remove_temporary = [&] {
    fs.DeleteFile(temporary, IOOptions(), nullptr).PermitUncheckedError();
  };
  try {
    write_synced(fs, temporary,
                 encode_folder_file({folder_format, random_hex(16)}));
    const auto linked = fs.LinkFile(temporary, target, IOOptions(), nullptr);
    // Another creator was first when SATCHEL is there all the same.
    struct stat info {};
    if (!linked.ok() && ::lstat(target.c_str(), &info) != 0) {
      check(linked, "create the store");
    }
  } catch (...) {
    remove_temporary();
    throw;
  }
  remove_temporary();
}

}  // namespace

FolderInfo look_at_folder(const std::string& given) {
  if (given.empty()) not_a_store("the store's path is empty");
  const std::string path = without_trailing_slash(given);
  const auto names = entries(path);
  FolderInfo info;
  if (!names) return info;
  bool satchel = false, current = false, other = false, data = false;
  bool manifest = false;
  for (const std::string& name : *names) {
    satchel = satchel || name == "SATCHEL";
    current = current || name == "CURRENT";
    // OPTIONS comes with the end of RocksDB's first open.
    manifest = manifest || name.rfind("MANIFEST-", 0) == 0 ||
               name.rfind("OPTIONS-", 0) == 0;
    other = other || name.rfind(kTemporary, 0) != 0;
    data = data || has_suffix(name, ".log") || has_suffix(name, ".sst") ||
           has_suffix(name, ".blob");
  }
  if (!satchel) {
    if (other) not_a_store("the folder holds other files and no store");
    info.state = FolderState::empty;
    return info;
  }
  const auto file = decode_folder_file(read_folder_file(path));
  info.format = file.format;
  info.id = file.id;
  // RocksDB makes CURRENT before the first file of data, and never takes it
  // away.
  if (!current && data) {
    throw Failure(Kind::corrupt,
                  "the store is damaged: it has data but no file CURRENT; "
                  "restore a backup, and keep the folder as it is");
  }
  // A power cut may keep the new name CURRENT and not that of the MANIFEST
  // that it names; nothing was written before both were durable.
  info.state = current && (manifest || data) ? FolderState::complete
                                             : FolderState::interrupted;
  return info;
}

FolderInfo create_folder(const std::string& given,
                         const FileSystemHandle& handle) {
  if (given.empty()) not_a_store("the store's path is empty");
  const std::string path = without_trailing_slash(given);
  const auto before = look_at_folder(path);
  if (before.state != FolderState::missing &&
      before.state != FolderState::empty) {
    return before;
  }
  const auto fs = private_file_system(handle.fs);
  const auto missing = missing_folders(path);
  for (const std::string& folder : missing) {
    check(fs->CreateDirIfMissing(folder, IOOptions(), nullptr),
          "create the store's folder");
  }
  put_folder_file(*fs, path);
  fsync_folder(*fs, path);
  for (auto folder = missing.rbegin(); folder != missing.rend(); ++folder) {
    fsync_folder(*fs, parent_of(*folder));
  }
  return look_at_folder(path);
}

void tighten_permissions(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  const auto mine = ::geteuid();
  const auto loose = [mine](const struct stat& info) {
    return info.st_uid == mine && (info.st_mode & 077) != 0;
  };
  struct stat info {};
  if (::fstat(fd, &info) == 0 && loose(info)) {
    (void)!::fchmod(fd, info.st_mode & 0700);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd),
                                                   &::closedir);
  if (folder == nullptr) {
    ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(folder.get())) {
    if (::fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(info.st_mode) && loose(info)) {
      (void)!::fchmodat(fd, entry->d_name, info.st_mode & 0700, 0);
    }
  }
}

void remove_leftovers(const std::string& given,
                      const FileSystemHandle& handle) {
  const std::string path = without_trailing_slash(given);
  const auto names = entries(path);
  if (!names) return;
  for (const std::string& name : *names) {
    if (name.rfind(kTemporary, 0) != 0) continue;
    handle.fs->DeleteFile(path + "/" + name, IOOptions(), nullptr)
        .PermitUncheckedError();
  }
}

}  // namespace satchel::storage
