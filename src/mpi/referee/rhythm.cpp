#include "mpi/referee/rhythm.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>

namespace tare::mpi::referee {
namespace {

constexpr std::uint64_t repetitions = 3;  // at least, of what is remembered
constexpr double alike = 0.5;             // of the ticks, that are as a period before; with less there is no period
constexpr double as_good = 0.95;          // of the share of the best period: a shorter one is taken

}  // namespace

void Rhythm::add(const void* caller, std::uint64_t ticks, std::uint64_t now_ns) noexcept {
  if (count_ != 0 && ticks == ticks_) return;
  const std::uint64_t ns = now_ns - then_ns_;
  const auto whole = static_cast<unsigned>(std::bit_width(ns | 1U));
  const bool is_upper_half = whole > 1 && (ns >> (whole - 2) & 1U) != 0;
  newest_[count_ % most] = {static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(caller)),
                            static_cast<std::uint16_t>(2 * whole + (is_upper_half ? 1 : 0))};
  ++count_;
  ticks_ = ticks;
  then_ns_ = now_ns;
}

std::uint64_t Rhythm::period() const noexcept {
  const std::uint64_t count = std::min<std::uint64_t>(count_, most);
  double shares[most / repetitions + 1] = {}, best = 0;
  for (std::uint64_t period = 1; period <= count / repetitions; ++period) {
    std::uint64_t same = 0;
    for (std::uint64_t i = period; i < count; ++i) {
      const Tick &now = newest_[(count_ - count + i) % most], &then = newest_[(count_ - count + i - period) % most];
      same += now.site == then.site && std::abs(now.pace - then.pace) <= 1 ? 1U : 0U;
    }
    shares[period] = static_cast<double>(same) / static_cast<double>(count - period);
    best = std::max(best, shares[period]);
  }
  if (best < alike) return 0;
  return static_cast<std::uint64_t>(
      std::find_if(shares + 1, std::end(shares), [=](double share) { return share >= as_good * best; }) - shares);
}

}  // namespace tare::mpi::referee
