#include "recorder/clock.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "recorder/every_call.h"
#include "recorder/system.h"

namespace tare::recorder {

TARE_EVERY_CALL constinit bool clock_is_counter = false;

namespace {

constinit unsigned shift = 0;

constinit std::uint64_t loaded_ns = 0;
constinit pid_t loaded_in = 0;
[[gnu::constructor]] void note_load() noexcept {
  loaded_ns = read_ns(CLOCK_MONOTONIC_RAW);
  loaded_in = getpid();
}

// The kernel uses the counter only after it has checked that it is steady and equal on all processors.
bool kernel_trusts_counter() noexcept {
  if (processor::counter_is_architectural) return true;
  char text[64];
  const long n = read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof text);
  return n >= 3 && std::memcmp(text, "tsc", 3) == 0;
}

// Ticks of the counter in a nanosecond, measured during 30 microseconds. Too many if it is interrupted between the
// readings of both clocks.
std::uint64_t measure_ticks_per_ns() noexcept {
  const std::uint64_t ticks = read_counter();
  const std::uint64_t start = read_ns(CLOCK_MONOTONIC_RAW);
  std::uint64_t end = start;
  while (end - start < 30'000) end = read_ns(CLOCK_MONOTONIC_RAW);
  return (read_counter() - ticks) / (end - start);
}

// That is exact enough to count the bits above 1 GHz.
unsigned measure_shift() noexcept {
  std::uint64_t per_ns = measure_ticks_per_ns();
  for (int i = 0; i < 2; ++i) per_ns = std::min(per_ns, measure_ticks_per_ns());
  return per_ns == 0 ? 0 : static_cast<unsigned>(std::bit_width(per_ns)) - 1;
}

constexpr int readings = 4;

}  // namespace

std::uint64_t read_raw_clock() noexcept { return read_ns(CLOCK_MONOTONIC_RAW); }

void choose_clock() noexcept {
  static constinit bool chosen = false;
  if (chosen) return;
  chosen = true;
  clock_is_counter = kernel_trusts_counter();
  shift = clock_is_counter ? measure_shift() : 0;
}

std::uint32_t us_since_load(std::uint64_t monotonic_ns) noexcept {
  if (loaded_in != getpid() || monotonic_ns < loaded_ns) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>((monotonic_ns - loaded_ns) / 1000, UINT32_MAX));
}

format::ClockKind clock_kind() noexcept {
  return clock_is_counter ? format::ClockKind::tsc : format::ClockKind::monotonic_raw;
}

format::ClockPair read_clock_pair() noexcept {
  format::ClockPair best{};
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < readings; ++i) {
    const std::uint64_t before = now();
    const std::uint64_t ns = read_ns(CLOCK_MONOTONIC_RAW);
    const std::uint64_t after = now();
    if (after - before < shortest) {
      shortest = after - before;
      best = {before + shortest / 2, ns};
    }
  }
  return best;
}

std::uint64_t realtime_at(std::uint64_t monotonic_ns) noexcept {
  std::uint64_t best = 0;
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < readings; ++i) {
    const std::uint64_t before = read_ns(CLOCK_MONOTONIC_RAW);
    const std::uint64_t ns = read_ns(CLOCK_REALTIME);
    const std::uint64_t after = read_ns(CLOCK_MONOTONIC_RAW);
    if (after - before < shortest) {
      shortest = after - before;
      best = ns - (before + shortest / 2 - monotonic_ns);
    }
  }
  return best;
}

unsigned tick_shift() noexcept { return shift; }

}  // namespace tare::recorder
