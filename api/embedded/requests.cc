#include "api/embedded/requests.h"

#include "api/embedded/values.h"

namespace satchel::embedded {

bool answers(const storage::RequestRecord& record,
             const storage::Fingerprint& fingerprint, std::uint64_t now) {
  if (record.deadline <= now) return false;
  if (record.fingerprint != fingerprint) throw request_conflict();
  return true;
}

storage::RequestRecord to_record(const Snapshot& result,
                                 storage::Operation operation,
                                 const storage::Fingerprint& fingerprint,
                                 std::uint64_t deadline) {
  storage::RequestRecord record;
  record.deadline = deadline;
  record.fingerprint = fingerprint;
  record.operation = operation;
  record.handle = result.handle;
  record.version = result.version;
  record.created = to_stored(result.created_at);
  record.updated = to_stored(result.updated_at);
  record.expires =
      result.expires_at ? to_stored(*result.expires_at) : storage::kNever;
  record.last_writer = result.last_writer;
  return record;
}

Snapshot to_snapshot(const storage::RequestRecord& record) {
  Snapshot snapshot;
  snapshot.handle = record.handle;
  snapshot.kind = record.handle.substr(0, record.handle.find('_'));
  snapshot.version = record.version;
  snapshot.created_at = to_time(record.created);
  snapshot.updated_at = to_time(record.updated);
  snapshot.expires_at = to_expiry(record.expires);
  snapshot.last_writer = record.last_writer;
  return snapshot;
}

void add_replayed_state(Engine& engine, std::string_view user,
                        Snapshot* snapshot) {
  const auto view = engine.db->view();
  const auto head = view.head(user, snapshot->handle);
  if (!head || head->status != storage::Status::live ||
      head->deadline <= engine.now() || head->version < snapshot->version) {
    return;
  }
  if (auto text = engine.text_at(view, *head, snapshot->version)) {
    snapshot->state = Document::from_canonical(std::move(text));
  }
}

}  // namespace satchel::embedded
