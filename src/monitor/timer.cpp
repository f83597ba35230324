#include "monitor/timer.h"

#include "recorder/clock.h"
#include "recorder/monitored.h"

namespace tare::monitor {

void Timer::begin(std::uint64_t interval_ns, std::uint64_t epoch_ns, const format::ClockPair& start) noexcept {
  interval_ns_ = interval_ns;
  epoch_ns_ = epoch_ns;
  last_ = 0;
  start_ = start;
  recorder::offload_due.store(interval_ns == 0 ? UINT64_MAX : 0, std::memory_order_relaxed);
}

std::uint64_t Timer::round_at(std::uint64_t ticks) noexcept {
  const std::uint64_t time = recorder::read_ns(CLOCK_REALTIME);
  if (time < epoch_ns_) {
    look_again(ticks, epoch_ns_ - time);
    return 0;
  }
  const std::uint64_t since = time - epoch_ns_;
  look_again(ticks, interval_ns_ - since % interval_ns_);
  const std::uint64_t round = since / interval_ns_;
  if (round <= last_) return 0;
  return last_ = round;
}

double Timer::ticks_per_ns(std::uint64_t ticks) const noexcept {
  const std::uint64_t now_ns = recorder::read_ns(CLOCK_MONOTONIC_RAW);
  if (now_ns <= start_.monotonic_ns || ticks <= start_.ticks) return 1;
  return static_cast<double>(ticks - start_.ticks) / static_cast<double>(now_ns - start_.monotonic_ns);
}

// The first looks may be too early, and find no new round.
void Timer::look_again(std::uint64_t ticks, std::uint64_t wait_ns) const noexcept {
  const double wait = static_cast<double>(wait_ns) * ticks_per_ns(ticks);
  recorder::offload_due.store(ticks + static_cast<std::uint64_t>(wait), std::memory_order_relaxed);
}

}  // namespace tare::monitor
