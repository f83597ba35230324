// What was read last of how the operating system has scheduled a thread (scheduling.h).
#pragma once

#include <cstdint>

namespace tare::recorder {

// Only the owning thread uses it. Zero-initialised: there is no reading.
struct SchedulingReading {
  // The shortest time between two readings.
  static constexpr std::uint64_t interval_ns = 1'000'000;

  std::uint64_t due;  // from then on, in ticks, the next one is made
  std::uint64_t ticks;
  std::uint64_t wall_ns;       // 0: there is no reading that the next one can be compared with
  std::uint64_t processor_ns;  // of the thread, as are the following
  std::uint64_t switches, preemptions, page_faults, major_page_faults;
  std::uint64_t delay_ns;  // what the kernel has counted as waiting for a processor; or should have
  std::uint64_t counted_calls;
  std::uint64_t cost;             // of the last one that was not interrupted, in ticks
  std::uint64_t processor_ticks;  // about what the thread had of a processor between all readings, also before pauses
  bool is_of_begin;               // the thread has just begun: what it does until the first reading counts
};

}  // namespace tare::recorder
