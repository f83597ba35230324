// How often a thread is sampled: as often as the user asks, unless the run has a budget and samples would take more
// than their part of it. Zero-initialised.
#pragma once

#include <atomic>
#include <cstdint>

namespace tare::stacks {

class Pace {
 public:
  // Times are nanoseconds of the thread's processor time.
  void begin(std::uint64_t asked_ns) noexcept;
  // The time from one sample to the next.
  std::uint64_t interval_ns() const noexcept { return interval_ns_; }
  // A sample took `cost_ns`, and samples may take the share `most` of the time; 0: any. Returns whether the interval is
  // another now.
  bool note_cost(std::uint64_t cost_ns, double most) noexcept;

 private:
  std::uint64_t asked_ns_;
  std::uint64_t interval_ns_;  // asked_ns_ times a power of two
  double mean_cost_ns_;        // of recent samples; 0: there were none
};

// The longest interval of the threads of a process, one of which has another now: it never becomes shorter. `Word`: a
// std::atomic_ref.
template <class Word>
void lengthen(Word&& longest_ns, std::uint64_t interval_ns) noexcept {
  std::uint64_t known_ns = longest_ns.load(std::memory_order_relaxed);
  while (known_ns < interval_ns && !longest_ns.compare_exchange_weak(known_ns, interval_ns, std::memory_order_relaxed))
    ;
}

}  // namespace tare::stacks
