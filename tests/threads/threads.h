#pragma once
// Threads that start at once.

#include <barrier>
#include <thread>
#include <vector>

namespace satchel::test {

/// Runs body(0) to body(n - 1), each in a thread of its own, and waits.
template <class F>
void in_threads(int n, F body) {
  std::barrier start(n);
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t)
    threads.emplace_back([&start, &body, t] {
      start.arrive_and_wait();
      body(t);
    });
  for (auto& t : threads) t.join();
}

}  // namespace satchel::test
