#include "storage/manifest_scan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "storage/log_reader.h"

namespace satchel::storage {

namespace {

struct Malformed {};

/// The encoded numbers of one edit, taken from the front.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) throw Malformed{};
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    throw Malformed{};
  }
  void skip_numbers(int count) {
    for (int i = 0; i < count; ++i) number();
  }
  void skip_bytes() {
    const auto size = number();
    if (size > bytes_.size()) throw Malformed{};
    bytes_.remove_prefix(size);
  }

 private:
  std::string_view bytes_;
};

// Tags of RocksDB's VersionEdit.
enum Tag : std::uint64_t {
  kComparator = 1,
  kLogNumber = 2,
  kNextFileNumber = 3,
  kLastSequence = 4,
  kCompactCursor = 5,
  kDeletedFile = 6,
  kNewFile = 7,
  kPrevLogNumber = 9,
  kMinLogNumberToKeep = 10,
  kNewFile2 = 100,
  kNewFile3 = 102,
  kNewFile4 = 103,
  kColumnFamily = 200,
  kColumnFamilyAdd = 201,
  kColumnFamilyDrop = 202,
  kMaxColumnFamily = 203,
  kInAtomicGroup = 300,
  kSkippable = 1 << 13,  // bit of tags that are followed by their length
};

/// What the edits so far add up to.
struct Sum {
  std::map<std::uint64_t, std::uint64_t> log_numbers{{0, 0}};  // by family
  std::uint64_t min_log_number = 0;
  std::uint64_t last_sequence = 0;
  bool tables = false;
};

struct Edit {
  std::uint64_t family = 0;
  std::optional<std::uint64_t> log_number;
  bool add = false;
  bool drop = false;
};

void skip_table(Cursor& in, std::uint64_t tag) {
  // level, number, path (in format 3), size
  in.skip_numbers(tag == kNewFile3 ? 4 : 3);
  in.skip_bytes();  // smallest key
  in.skip_bytes();  // largest key
  if (tag != kNewFile) in.skip_numbers(2);
  if (tag != kNewFile4) return;
  while (in.number() != 1) in.skip_bytes();
}

// False: no tag that this function knows.
bool apply_tag(Cursor& in, std::uint64_t tag, Edit& edit, Sum& sum) {
  switch (tag) {
    case kLogNumber:
      edit.log_number = in.number();
      return true;
    case kMinLogNumberToKeep:
      sum.min_log_number = std::max(sum.min_log_number, in.number());
      return true;
    case kLastSequence:
      sum.last_sequence = std::max(sum.last_sequence, in.number());
      return true;
    case kColumnFamily:
      edit.family = in.number();
      return true;
    case kColumnFamilyAdd:
      edit.add = true;
      in.skip_bytes();
      return true;
    case kColumnFamilyDrop:
      edit.drop = true;
      return true;
    case kNewFile:
    case kNewFile2:
    case kNewFile3:
    case kNewFile4:
      sum.tables = true;
      skip_table(in, tag);
      return true;
    default:
      return false;
  }
}

void skip_tag(Cursor& in, std::uint64_t tag) {
  switch (tag) {
    case kComparator:
      return in.skip_bytes();
    case kNextFileNumber:
    case kPrevLogNumber:
    case kMaxColumnFamily:
    case kInAtomicGroup:
      return in.skip_numbers(1);
    case kDeletedFile:
      return in.skip_numbers(2);
    case kCompactCursor:
      in.skip_numbers(1);
      return in.skip_bytes();
    default:
      break;
  }
  // 2 to 5 beyond the bit are old forms without a length.
  const bool old_form = tag >= kSkippable + 2 && tag <= kSkippable + 5;
  if ((tag & kSkippable) == 0 || old_form) throw Malformed{};
  in.skip_bytes();
}

void apply_edit(std::string_view record, Sum& sum) {
  Edit edit;
  for (Cursor in(record); !in.empty();) {
    const auto tag = in.number();
    if (!apply_tag(in, tag, edit, sum)) skip_tag(in, tag);
  }
  if (edit.drop) {
    sum.log_numbers.erase(edit.family);
    return;
  }
  auto& log_number = sum.log_numbers[edit.family];
  if (edit.log_number) log_number = std::max(log_number, *edit.log_number);
}

Sum add_up(LogReader& reader) {
  Sum sum;
  std::string record;
  for (;;) {
    const auto fragment = reader.next();
    switch (fragment.kind) {
      case Fragment::Kind::full:
      case Fragment::Kind::first:
        record = fragment.payload;
        break;
      case Fragment::Kind::middle:
      case Fragment::Kind::last:
        record += fragment.payload;
        break;
      case Fragment::Kind::ignorable:
        continue;
      default:  // the end, or the torn end beside a writer
        return sum;
    }
    if (fragment.kind == Fragment::Kind::full ||
        fragment.kind == Fragment::Kind::last) {
      apply_edit(record, sum);
    }
  }
}

// Null when there is none.
std::unique_ptr<rocksdb::FSSequentialFile> open_current(
    rocksdb::FileSystem& fs, const std::string& folder) {
  std::string tried;
  for (;;) {
    std::string name;
    if (!rocksdb::ReadFileToString(&fs, folder + "/CURRENT", &name).ok()) {
      return nullptr;
    }
    while (!name.empty() && name.back() == '\n') name.pop_back();
    std::unique_ptr<rocksdb::FSSequentialFile> file;
    const auto status = fs.NewSequentialFile(
        folder + "/" + name, rocksdb::FileOptions(), &file, nullptr);
    if (status.ok()) return file;
    // A writer beside may have changed to the next one meanwhile.
    if (name == tried) return nullptr;
    tried = name;
  }
}

}  // namespace

ManifestFacts scan_manifest(rocksdb::FileSystem& fs,
                            const std::string& folder) {
  ManifestFacts facts;
  auto file = open_current(fs, folder);
  if (file == nullptr) return facts;
  LogReader reader(std::move(file), 0);
  try {
    const auto sum = add_up(reader);
    auto first = ~std::uint64_t{0};
    for (const auto& [family, number] : sum.log_numbers) {
      first = std::min(first, number);
    }
    facts.first_live_wal = std::max(first, sum.min_log_number);
    facts.fresh =
        !sum.tables && sum.last_sequence == 0 && sum.log_numbers.size() == 1;
  } catch (const Malformed&) {
    facts.first_live_wal = 0;
  }
  return facts;
}

}  // namespace satchel::storage
