#include "tools/serve/well_known.h"

#include <algorithm>
#include <utility>

#include "satchel/json.h"
#include "tools/serve/hosts.h"

namespace satchel::tools::serve {
namespace {

constexpr std::string_view kRoot = "/.well-known/oauth-protected-resource";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

WellKnown::WellKnown(const AuthSettings& settings, std::string endpoint)
    : served_(!settings.jwks.empty()), scope_(joined(settings.scopes)) {
  if (!served_) return;
  Json document = {{"resource", settings.audience},
                   {"authorization_servers", {settings.issuer}},
                   {"bearer_methods_supported", {"header"}}};
  if (!settings.scopes.empty()) document["scopes_supported"] = settings.scopes;
  document_ = document.dump();
  // The first is the one that the challenge names.
  const std::string root(kRoot);
  if (const auto origin = parse_origin(settings.audience)) {
    origin_ = origin->text();
    const auto path = origin->path.substr(0, origin->path.find_first_of("?#"));
    paths_.push_back(root + (path == "/" ? "" : path));
  }
  paths_.push_back(root + endpoint);
  paths_.push_back(root);
}

bool WellKnown::serves(std::string_view path) const {
  return std::find(paths_.begin(), paths_.end(), path) != paths_.end();
}

HttpReply WellKnown::document() const {
  HttpReply reply{200, document_};
  // Public by nature, and read by pages of any origin.
  reply.headers = {{"Access-Control-Allow-Origin", "*"},
                   {"Cache-Control", "max-age=3600"}};
  return reply;
}

std::string WellKnown::metadata_url(const HttpHead& head) const {
  if (!origin_.empty()) return origin_ + paths_.front();
  const auto host = head.one("host");
  return (head.tls ? "https://" : "http://") + std::string(host.value_or("")) +
         paths_.front();
}

std::string WellKnown::challenge(const AuthRefusal& refusal,
                                 const HttpHead& head) const {
  std::string text = "Bearer error=\"" + refusal.error +
                     "\", error_description=\"" + refusal.description + '"';
  if (!scope_.empty()) text += ", scope=\"" + scope_ + '"';
  if (served_) text += ", resource_metadata=\"" + metadata_url(head) + '"';
  return text;
}

}  // namespace satchel::tools::serve
