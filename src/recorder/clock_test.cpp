#include "recorder/clock.h"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "recorder/system.h"

namespace tare::recorder {
namespace {

// Interrupts the thread every 100 us, each time for 50 us.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = [](int) {
      const std::uint64_t end = read_ns(CLOCK_MONOTONIC) + 50'000;
      while (read_ns(CLOCK_MONOTONIC) < end) {
      }
    };
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &before_);
    const itimerval each{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &each, nullptr);
  }
  ~Interruptions() {
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

 private:
  struct sigaction before_ {};
};

TEST(ClockTest, InterruptionsDoNotMoveTheTimeOfAProcess) {
  choose_clock();
  std::vector<std::int64_t> offsets;
  {
    const Interruptions interruptions;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t monotonic_ns = read_clock_pair().monotonic_ns;
      offsets.push_back(static_cast<std::int64_t>(realtime_at(monotonic_ns) - monotonic_ns));
    }
  }
  std::sort(offsets.begin(), offsets.end());
  const std::int64_t median = offsets[offsets.size() / 2];
  // The kernel may correct its clock meanwhile, by at most 0.05 %.
  EXPECT_LT(offsets.back() - median, 20'000);
  EXPECT_LT(median - offsets.front(), 20'000);
}

// Also of counters below 1 GHz, as those of Arm are.
TEST(ClockTest, TheLengthOfATickIsKnownToAPowerOfTwo) {
  choose_clock();
  bool is_half_at_least = false;  // unless this was interrupted each time
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t first = now(), start = read_ns(CLOCK_MONOTONIC_RAW);
    std::uint64_t end = start;
    while (end - start < 1'000'000) end = read_ns(CLOCK_MONOTONIC_RAW);
    const auto ticks = static_cast<double>(now() - first);
    EXPECT_LE(static_cast<double>(about_ticks(end - start)), 1.05 * ticks);
    is_half_at_least |= static_cast<double>(about_ticks(end - start)) >= 0.45 * ticks;
  }
  EXPECT_TRUE(is_half_at_least);
  EXPECT_LE(about_ns(about_ticks(1'000'000)), 1'000'000U);
  EXPECT_GE(about_ns(about_ticks(1'000'000)), 900'000U);
}

}  // namespace
}  // namespace tare::recorder
