#include "recorder/rhythm.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace tare::recorder {
namespace {

constexpr std::uint64_t repetitions = 3;  // at least, of what is remembered
constexpr double alike = 0.5;             // of the ticks, that are as a period before; with less there is no period
constexpr double as_good = 0.95;          // of the share of the best period: a shorter one is taken

// For each period, how many of the ticks are as a period before. Small, because it lies on the program's stack.
struct Alike {
  std::uint64_t count, longest;
  std::uint16_t ticks[Rhythm::most / repetitions + 1] = {};

  double share(std::uint64_t period) const noexcept {
    return static_cast<double>(ticks[period]) / static_cast<double>(count - period);
  }
  // The shortest multiple of `step` that is nearly as good as the best. 0: none is good.
  std::uint64_t best(std::uint64_t step) const noexcept {
    double best = 0;
    for (std::uint64_t period = step; period <= longest; period += step) best = std::max(best, share(period));
    if (best < alike) return 0;
    std::uint64_t period = step;
    while (share(period) < as_good * best) period += step;
    return period;
  }
};

}  // namespace

void Rhythm::add(std::uintptr_t place, std::uint64_t ticks, std::uint64_t now_ns) noexcept {
  if (count_ != 0 && ticks == ticks_) return;
  const std::uint64_t ns = now_ns - then_ns_;
  const auto whole = static_cast<unsigned>(std::bit_width(ns | 1U));
  const bool is_upper_half = whole > 1 && (ns >> (whole - 2) & 1U) != 0;
  newest_[count_ % most] = {static_cast<std::uint16_t>(place),
                            static_cast<std::uint16_t>(2 * whole + (is_upper_half ? 1 : 0))};
  ++count_;
  ticks_ = ticks;
  then_ns_ = now_ns;
}

std::uint64_t Rhythm::period() const noexcept {
  const std::uint64_t count = std::min<std::uint64_t>(count_, most);
  Alike places{count, count / repetitions}, paces{count, count / repetitions};
  for (std::uint64_t period = 1; period <= count / repetitions; ++period) {
    for (std::uint64_t back = 0; back < count - period; ++back) {
      const Tick &now = newest(back), &then = newest(back + period);
      if (now.place != then.place) continue;
      ++places.ticks[period];
      if (std::abs(now.pace - then.pace) <= 1) ++paces.ticks[period];
    }
  }
  // The times of a program that computes vary, its places do not.
  const std::uint64_t of_places = places.best(1);
  if (of_places == 0) return 0;
  const std::uint64_t of_paces = paces.best(of_places);
  return of_paces != 0 ? of_paces : of_places;
}

}  // namespace tare::recorder
