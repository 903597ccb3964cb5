#include "tests/serve/key_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace satchel::test {

KeyServer::KeyServer()
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, raw, size) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, raw, &size) != 0) {
    throw std::runtime_error("no key server");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

KeyServer::~KeyServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

std::string KeyServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/jwks.json";
}

void KeyServer::serve(std::string body) {
  const std::lock_guard lock(mutex_);
  body_ = std::move(body);
}

void KeyServer::run() {
  for (;;) {
    const int fd = ::accept(listener_, nullptr, nullptr);
    if (fd < 0) return;
    std::string head;
    char buffer[4096];
    while (head.find("\r\n\r\n") == head.npos) {
      const auto n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      head.append(buffer, static_cast<std::size_t>(n));
    }
    ++requests_;
    std::string body;
    {
      const std::lock_guard lock(mutex_);
      body = body_;
    }
    std::string answer =
        body.empty() ? "HTTP/1.1 500 No\r\n" : "HTTP/1.1 200 OK\r\n";
    answer.append("Content-Length: ").append(std::to_string(body.size()));
    answer.append("\r\nConnection: close\r\n\r\n").append(body);
    ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    ::close(fd);
  }
}

}  // namespace satchel::test
