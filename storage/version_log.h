#pragma once
// The versions of one handle: a base is the whole text of one version, and each
// version above it up to the next base is a log record (a delta). A segment is
// a base with its deltas. Segments older than the current one are history,
// dropped whole.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/database.h"
#include "storage/format.h"

namespace satchel::storage {

struct Segment {
  std::uint64_t version = 0;  // of its base
  std::uint64_t gc = 0;
  std::uint64_t base_bytes = 0;
  std::uint64_t delta_bytes = 0;
  /// Its records reach up to the next segment of the chain. When not, the
  /// filters took what lay between: a segment that lived shorter.
  bool whole = true;
};

/// All segments of a handle, oldest first; the last is the current one.
using Chain = std::vector<Segment>;

/// What a version is rebuilt from: a text, and ops to apply in order.
struct Material {
  std::string text;
  std::vector<std::string> ops;
};

/// The material of `version`; none when it is not kept (any more). `head` was
/// read through `view`. Throws Failure(corrupt) when records that must be there
/// are missing.
std::optional<Material> load_version(const Database& db, const View& view,
                                     const Head& head, std::uint64_t version);

/// What is on disk, history that is dead or out of reach included. Empty when
/// the cutoff overtook the handle itself. Throws as load_version.
Chain load_chain(const Database& db, const View& view, const Head& head);

/// Index of the oldest segment in the unbroken run that ends at the current
/// one. A segment whose gc is at or before `cutoff` does not exist, on disk or
/// not; where it was the run is broken.
std::size_t first_readable(const Chain& chain, std::uint64_t cutoff);

/// How much history is promised; see satchel::Options.
struct HistoryLimits {
  std::uint32_t versions = 32;
  std::size_t bytes = std::size_t{1} << 20;
};

/// Whether `ops_bytes` more call for a new base rather than a delta, so that a
/// cold read stays within 1.5 times the state and 1,024 records.
bool wants_base(const Head& head, std::size_t ops_bytes);

/// Adds a version that is a log record alone; head and chain (when known) move
/// along. `record.gc` is set here.
void add_delta(Transaction& txn, Head& head, Chain* chain, LogRecord record);

/// Adds a version with a new base whose records live until `gc`, and drops the
/// segments that are no longer promised. `chain` must be known.
void add_base(Transaction& txn, Head& head, Chain& chain, LogRecord record,
              std::string_view text, std::uint64_t gc,
              const HistoryLimits& limits, std::uint64_t cutoff);

/// Drops every record that the head points to.
void drop_all(Transaction& txn, const Head& head, const Chain& chain);
/// The same for what is on disk, of which the expiry filters may have taken
/// some already.
void drop_all(Transaction& txn, const Head& head, const View& view);

}  // namespace satchel::storage
