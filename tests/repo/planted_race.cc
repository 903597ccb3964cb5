// Two threads that write one variable: ThreadSanitizer must say so.

#include <thread>

int shared_counter = 0;

int main() {
  const auto count = [] {
    for (int i = 0; i < 1000; ++i) ++shared_counter;
  };
  std::thread other(count);
  count();
  other.join();
  return shared_counter == 0;
}
