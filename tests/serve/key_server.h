#pragma once
// A web server on this machine that serves a key set, or fails.

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

namespace satchel::test {

class KeyServer {
 public:
  KeyServer();
  ~KeyServer();
  KeyServer(const KeyServer&) = delete;
  KeyServer& operator=(const KeyServer&) = delete;

  std::string url() const;
  /// What it answers from now on; "" is an answer of 500.
  void serve(std::string body);
  int requests() const { return requests_; }

 private:
  void run();

  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> requests_ = 0;
  std::mutex mutex_;
  std::string body_;
  std::thread thread_;
};

}  // namespace satchel::test
