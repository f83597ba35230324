// The clocks of the tree. Times that leave a process are of CLOCK_REALTIME, since the epoch.
#pragma once

#include <cstdint>
#include <ctime>

namespace tare::tared {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
inline std::int64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }
inline std::int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

}  // namespace tare::tared
