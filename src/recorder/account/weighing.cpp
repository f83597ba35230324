#include "recorder/account/weighing.h"

#include <algorithm>

#include "recorder/clock_cost.h"

namespace tare::recorder {
namespace {

// Xorshift64 (Marsaglia 2003). 0 stays 0, so a seed is needed.
std::uint64_t next_random(std::uint64_t& state) noexcept {
  if (state == 0) state = now() | 1U;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

}  // namespace

void Weighing::start(const std::uint64_t& flushed) noexcept {
  if (left != 0) ++begun;  // this is the first call, or the one before did not return
  left = 0;
  flush_ticks = flushed;
  begin = now();
}

std::uint64_t Weighing::clock_ticks() noexcept {
  if (reading == 0) reading = static_cast<std::uint32_t>(reading_ticks());
  return reading;
}

void Weighing::end_untimed_call(format::WeighedCalls* kinds, unsigned kind, std::uint64_t ticks, std::uint64_t flushed,
                                std::uint64_t end) noexcept {
  const std::uint64_t taken = end - begin - ticks;
  note(kinds, kind, taken - std::min(taken, 2 * clock_ticks()), flushed);
}

void Weighing::note(format::WeighedCalls* kinds, unsigned kind, std::uint64_t ticks, std::uint64_t flushed) noexcept {
  const std::uint64_t drains = flushed - flush_ticks;
  const std::uint64_t spent = ticks - std::min(ticks, drains);
  const bool is_first = first < first_calls;
  // Uniform from 1 to 2 * mean_gap - 1.
  wait(is_first ? 1 : 1 + static_cast<std::uint32_t>(next_random(random) % (2 * mean_gap - 1)));
  own = 0;
  format::WeighedCalls& to = kinds[kind < format::weighed_kinds ? kind : format::untimed - 1];
  if (is_first) {
    ++first;
    ++to.first_calls;
    to.first_ticks += spent;
  } else if (spent >= about_ticks(longest_ns)) {
    ++to.interrupted;
  } else {
    ++to.calls;
    to.ticks += spent;
    to.ticks_squared += static_cast<double>(spent) * static_cast<double>(spent);
    own = spent;
  }
}

}  // namespace tare::recorder
