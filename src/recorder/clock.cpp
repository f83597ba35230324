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

// The binary logarithm of the ticks in a nanosecond, rounded down: negative for counters of Arm, of 25 MHz to 1 GHz.
constinit int ticks_log2 = 0;

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

// Ticks of the counter in 65,536 nanoseconds, measured during 30 microseconds. Too many if it is interrupted between
// the readings of both clocks.
constexpr int measured_log2 = 16;
std::uint64_t measure_ticks() noexcept {
  const std::uint64_t ticks = read_counter();
  const std::uint64_t start = read_ns(CLOCK_MONOTONIC_RAW);
  std::uint64_t end = start;
  while (end - start < 30'000) end = read_ns(CLOCK_MONOTONIC_RAW);
  return ((read_counter() - ticks) << measured_log2) / (end - start);
}

// That is exact enough for a power of two.
int measure_log2() noexcept {
  std::uint64_t ticks = measure_ticks();
  for (int i = 0; i < 2; ++i) ticks = std::min(ticks, measure_ticks());
  return ticks == 0 ? 0 : static_cast<int>(std::bit_width(ticks)) - 1 - measured_log2;
}

constexpr int readings = 4;

}  // namespace

std::uint64_t read_raw_clock() noexcept { return read_ns(CLOCK_MONOTONIC_RAW); }

void choose_clock() noexcept {
  static constinit bool chosen = false;
  if (chosen) return;
  chosen = true;
  clock_is_counter = kernel_trusts_counter();
  ticks_log2 = clock_is_counter ? measure_log2() : 0;
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

unsigned tick_shift() noexcept { return static_cast<unsigned>(std::max(ticks_log2, 0)); }

std::uint64_t about_ticks(std::uint64_t ns) noexcept { return ticks_log2 >= 0 ? ns << ticks_log2 : ns >> -ticks_log2; }

std::uint64_t about_ns(std::uint64_t ticks) noexcept {
  return ticks_log2 >= 0 ? ticks >> ticks_log2 : ticks << -ticks_log2;
}

}  // namespace tare::recorder
