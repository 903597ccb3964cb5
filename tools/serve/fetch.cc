#include "tools/serve/fetch.h"

#include <curl/curl.h>

#include <memory>
#include <string_view>

#include "satchel/error.h"
#include "tools/serve/hosts.h"

namespace satchel::tools::serve {
namespace {

Error refused(const std::string& what) {
  return {ErrorCode::invalid_input,
          "the key set's URL " + what,
          {{"field", "jwks"}}};
}

Error failed(const std::string& what) {
  return {ErrorCode::backend_error, "the key set cannot be fetched: " + what};
}

bool is_tls(std::string_view url) { return url.starts_with("https://"); }

struct Body {
  std::string text;
  std::size_t limit;
};

/// Taking less than all of it ends the transfer.
std::size_t take(const char* data, std::size_t, std::size_t size, void* to) {
  auto& body = *static_cast<Body*>(to);
  if (size > body.limit - body.text.size()) return 0;
  body.text.append(data, size);
  return size;
}

}  // namespace

void check_fetch_url(const std::string& url) {
  std::string_view rest = url;
  if (!is_tls(url) && !rest.starts_with("http://")) {
    throw refused("begins with https://");
  }
  rest.remove_prefix(rest.find("//") + 2);
  if (rest.find_first_of(" #\t\r\n") != rest.npos ||
      rest.find('\0') != rest.npos) {
    throw refused("has a fragment or a blank");
  }
  const auto place = parse_authority(rest.substr(0, rest.find_first_of("/?")));
  if (!place) throw refused("has no host, or more than a host and a port");
  if (!is_tls(url) && !is_loopback_name(place->host)) {
    throw refused("is https, or of this machine (http://127.0.0.1…)");
  }
}

std::string fetch(const std::string& url, const FetchLimits& limits) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
      curl_easy_init(), &curl_easy_cleanup);
  if (ready != CURLE_OK || !curl) throw failed("there is no memory for it");
  Body body{{}, limits.bytes};
  const auto set = [&](CURLoption option, auto value) {
    if (curl_easy_setopt(curl.get(), option, value) != CURLE_OK) {
      throw failed("there is no memory for it");
    }
  };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, is_tls(url) ? "https" : "http");
  // Keys over http come from this machine itself.
  if (!is_tls(url)) set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TIMEOUT, static_cast<long>(limits.time.count()));
  set(CURLOPT_USERAGENT, "satchel");
  set(CURLOPT_WRITEFUNCTION, &take);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&body));
  const CURLcode outcome = curl_easy_perform(curl.get());
  if (outcome == CURLE_WRITE_ERROR) throw failed("it is too large");
  if (outcome != CURLE_OK) throw failed(curl_easy_strerror(outcome));
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    throw failed("its server answered " + std::to_string(status));
  }
  return std::move(body.text);
}

}  // namespace satchel::tools::serve
