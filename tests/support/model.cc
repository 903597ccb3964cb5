#include "tests/support/model.h"

#include <algorithm>

namespace satchel::test {

std::optional<Expected> Model::replay(const std::string& user,
                                      const std::string& id,
                                      const std::string& fingerprint) const {
  const auto it = requests_.find({user, id});
  if (it == requests_.end() || it->second.deadline <= clock_.now())
    return std::nullopt;
  if (it->second.fingerprint != fingerprint)
    return Expected{ErrorCode::request_conflict, {}};
  return Expected{std::nullopt, it->second.result};
}

void Model::remember(const std::string& user, const std::string& id,
                     const std::string& fingerprint, const HandleInfo& result) {
  if (!id.empty())
    requests_[{user, id}] = {fingerprint, result, clock_.now() + 24h};
}

void Model::minted(const std::string& user, const Snapshot& snapshot,
                   const std::string& state, microseconds ttl) {
  ModelHandle h;
  h.info = snapshot;
  h.ttl = ttl;
  h.versions.push_back(
      {state, Change::mint, snapshot.last_writer, snapshot.updated_at});
  handles_[{user, snapshot.handle}] = std::move(h);
  minted_[user].push_back(snapshot.handle);
}

bool Model::alive(const ModelHandle& h) const {
  return !h.revoked && !h.swept &&
         (!h.info.expires_at || *h.info.expires_at > clock_.now());
}

std::optional<ErrorCode> Model::refusal(const std::string& user,
                                        const std::string& handle) const {
  const auto it = handles_.find({user, handle});
  if (it == handles_.end() || it->second.revoked)
    return ErrorCode::handle_not_found;
  const ModelHandle& h = it->second;
  if (alive(h)) return std::nullopt;
  if (*h.info.expires_at + days(30) <= clock_.now())
    return ErrorCode::handle_not_found;
  return ErrorCode::handle_expired;
}

HandleInfo Model::wrote(const std::string& user, const std::string& handle,
                        ModelVersion version, Ttl ttl) {
  ModelHandle& h = handles_.at({user, handle});
  const Time now = clock_.now();
  ++h.info.version;
  h.info.updated_at = std::max(now, h.info.updated_at + 1us);
  h.info.last_writer = version.writer;
  if (ttl.kind() == Ttl::Kind::persist) h.info.expires_at.reset();
  if (ttl.kind() == Ttl::Kind::duration) {
    h.info.expires_at = now + ttl.duration();
    h.ttl = ttl.duration();
  }
  if (ttl.kind() != Ttl::Kind::keep) h.renewed = true;
  version.at = h.info.updated_at;
  h.versions.push_back(std::move(version));
  return h.info;
}

void Model::revoked(const std::string& user, const std::string& handle) {
  handles_.at({user, handle}).revoked = true;
}

std::uint64_t Model::sweep(const std::string& user) {
  std::uint64_t removed = 0;
  for (auto& [key, h] : handles_) {
    if (key.first != user || h.revoked || h.swept || alive(h)) continue;
    h.swept = true;
    ++removed;
  }
  return removed;
}

std::vector<HandleInfo> Model::list(const std::string& user,
                                    bool include_expired,
                                    const std::string& kind) const {
  std::vector<HandleInfo> all;
  for (const auto& [key, h] : handles_) {
    if (key.first != user || h.revoked || h.swept) continue;
    if (!include_expired && !alive(h)) continue;
    if (kind.empty() || h.info.kind == kind) all.push_back(h.info);
  }
  std::sort(all.begin(), all.end(),
            [](const HandleInfo& a, const HandleInfo& b) {
              return a.updated_at != b.updated_at ? a.updated_at > b.updated_at
                                                  : a.handle < b.handle;
            });
  return all;
}

ModelHandle* Model::find(const std::string& user, const std::string& handle) {
  const auto it = handles_.find({user, handle});
  return it == handles_.end() ? nullptr : &it->second;
}

std::string apply_ops(const std::string& state, const Json& ops) {
  Json s = Json::parse(state);
  for (const Json& op : ops) {
    const std::string kind = op["op"];
    const std::string path = op.value("path", "");
    Json& at = path.empty() ? s : s[path];
    if (kind == "append") at.push_back(op["value"]);
    if (kind == "set_key") at[op["key"].get<std::string>()] = op["value"];
    if (kind == "del_key") at.erase(op["key"].get<std::string>());
    if (kind == "merge") at.update(op["mapping"]);
    if (kind == "increment") {
      Json& n = at[op["key"].get<std::string>()];
      n = n.get<std::int64_t>() + op["by"].get<std::int64_t>();
    }
    if (kind == "add_to_set" &&
        std::find(at.begin(), at.end(), op["value"]) == at.end())
      at.push_back(op["value"]);
    if (kind == "remove_value")
      at.erase(std::remove(at.begin(), at.end(), op["value"]), at.end());
  }
  return s.dump();
}

}  // namespace satchel::test
