// The server's own TLS.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "tests/support/http_client.h"

namespace satchel::test {
namespace {

const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

struct Certificate {
  std::string certificate;
  std::string key;
};

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

/// A certificate for localhost that signs itself.
Certificate self_signed() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(
      name, "CN", MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_sign(certificate, key, EVP_sha256());
  BIO* first = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(first, certificate);
  BIO* second = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(second, key, nullptr, nullptr, 0, nullptr, nullptr);
  Certificate out{text_of(first), text_of(second)};
  X509_free(certificate);
  EVP_PKEY_free(key);
  return out;
}

/// What the server answers over TLS of at most `version`; "" when it refuses.
std::string tls_exchange(int port, const std::string& request, int version) {
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
      SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), version);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()),
                                                SSL_free);
  SSL_set_fd(tls.get(), fd);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) ==
          0 &&
      SSL_connect(tls.get()) == 1) {
    SSL_write(tls.get(), request.data(), static_cast<int>(request.size()));
    char buffer[4096];
    int size = 0;
    while ((size = SSL_read(tls.get(), buffer, sizeof buffer)) > 0) {
      answer.append(buffer, static_cast<std::size_t>(size));
    }
  }
  ::close(fd);
  return answer;
}

TEST_F(HttpTest, SpeaksTlsOfItsOwn) {
  const auto made = self_signed();
  write_file("cert.pem", made.certificate);
  write_file("key.pem", made.key);
  start({"--allow-anonymous", "--host", "0.0.0.0", "--tls-cert",
         path("cert.pem"), "--tls-key", path("key.pem")});
  EXPECT_TRUE(url_.starts_with("https://0.0.0.0:")) << url_;
  const auto request = request_text(
      "POST", "/mcp",
      {{"Content-Type", "application/json"}, {"Connection", "close"}}, kPing);
  const auto answer = tls_exchange(port_, request, TLS1_3_VERSION);
  EXPECT_THAT(answer, testing::HasSubstr("200 OK"));
  EXPECT_THAT(answer, testing::HasSubstr(R"("result":{})"));
  EXPECT_EQ(tls_exchange(port_, request, TLS1_1_VERSION), "");
  HttpConnection plain(port_);
  plain.send(request);
  EXPECT_NE(plain.read().value_or(HttpAnswer{}).status, 200);
  EXPECT_EQ(stop().exit_code, 0);
}

TEST_F(HttpTest, AKeyOfAnotherCertificateIsNoStart) {
  write_file("cert.pem", self_signed().certificate);
  write_file("key.pem", self_signed().key);
  const auto done =
      satchel({"serve", "--transport", "http", "--allow-anonymous",
               "--tls-cert", path("cert.pem"), "--tls-key", path("key.pem")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, testing::HasSubstr("--tls-key"));
}

}  // namespace
}  // namespace satchel::test
