// Distributes independent work items over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tare::reader {

// The number of threads to use for `count` items if a thread should get at least `each` of them. At most the number of
// processors, and 16.
inline unsigned threads_for(std::size_t count, std::size_t each) {
  constexpr std::size_t most = 16;  // limits the memory, because each thread has its own copy of its data
  const std::size_t worth = std::min(count / each + 1, most);
  return static_cast<unsigned>(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, worth));
}

// Calls work(thread, i) for every i below `count`, and returns when all calls have ended. `thread`: 0 to threads - 1.
// If calls throw, it rethrows the first exception after all threads have ended.
template <typename Work>
void parallel(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex lock;
  const auto run = [&](unsigned thread) {
    try {
      for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(thread, i);
    } catch (...) {
      next = count;
      const std::scoped_lock locked(lock);
      if (failure == nullptr) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  for (std::thread& other : others) other.join();
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace tare::reader
