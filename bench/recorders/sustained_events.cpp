// Events of four ints at a steady rate, drained to disk with tare's default buffer and policy.
//
//   sustained EVENTS RATE [DIRECTORY]    records EVENTS events, RATE a second (0: as fast as it can), into a new run
//                                        directory; without one, the loop alone. Prints {"seconds",
//                                        "processor_seconds"} of the loop.
#include <ctime>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tare/tare.hpp"

namespace {

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A stretch of events is due as a whole: who is late catches up, as a program with bursts does.
void wait_until(double due) {
  while (seconds_of(CLOCK_MONOTONIC) < due) {
  }
}

struct Time {
  double seconds, processor_seconds;
};

template <class Step>
Time loop(std::uint64_t events, double rate, Step step) {
  constexpr std::uint64_t stretch = 5000;
  const double start = seconds_of(CLOCK_MONOTONIC);
  const double processor = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  for (std::uint64_t i = 0; i < events; ++i) {
    if (rate > 0 && i % stretch == 0) wait_until(start + static_cast<double>(i) / rate);
    step(i);
  }
  return {seconds_of(CLOCK_MONOTONIC) - start, seconds_of(CLOCK_THREAD_CPUTIME_ID) - processor};
}

Time record(std::uint64_t events, double rate) {
  const tare_id event = tare_define_event("event", "iiii");
  tare_record4(event, 0, 0, 0, 0);
  return loop(events, rate, [event](std::uint64_t i) { tare_record4(event, i, i + 1, i + 2, i + 3); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::uint64_t events = std::strtoull(argv[1], nullptr, 10);
  const double rate = std::strtod(argv[2], nullptr);
  if (argc > 3 && !tare::start(argv[3])) return 1;
  const Time time = argc > 3 ? record(events, rate) : loop(events, rate, [](std::uint64_t i) {
    asm volatile("" : : "r"(i));
  });
  std::printf("{\"seconds\": %.6f, \"processor_seconds\": %.6f}\n", time.seconds, time.processor_seconds);
  return 0;
}
