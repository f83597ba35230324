#include "recorder/budget/cost_factor.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tare::recorder {
namespace {

// The same for numbers that differ by less than an eighth.
std::uint64_t size_class(std::uint64_t number) noexcept {
  const auto width = static_cast<unsigned>(std::bit_width(number));
  return width <= 4 ? number : std::uint64_t{width} << 3 | (number >> (width - 4) & 7);
}

std::uint64_t key_of(const SpellTime& spell) noexcept {
  const std::uint64_t calls = size_class(spell.calls / spell.sync_points);
  const auto length = static_cast<std::uint64_t>(std::bit_width(spell.sync_points));
  std::uint64_t key = (std::uint64_t{spell.first_site} << 32 | spell.last_site) * 0x9e3779b97f4a7c15U;
  key = (key ^ key >> 29 ^ (calls << 8 | length)) * 0xbf58476d1ce4e5b9U;
  return (key ^ key >> 32) | 1U << 31;  // none is 0
}

double ticks_per_sync_point(const SpellTime& spell) noexcept {
  return static_cast<double>(spell.ticks) / spell.sync_points;
}

}  // namespace

void CostFactor::note_counted(const SpellTime& spell) noexcept {
  const std::uint64_t key = key_of(spell);
  Stratum& stratum = stratum_of(key);
  if (stratum.key != key) stratum = {key, 0, 0, 0};
  const double ticks = ticks_per_sync_point(spell);
  if (++stratum.spells == 1) {
    stratum.mean = ticks;
    return;
  }
  double off = ticks - stratum.mean;
  if (stratum.spells > enough) {
    const double limit = widest * std::sqrt(stratum.variance);
    off = std::clamp(off, -limit, limit);
  }
  const double part = 1.0 / std::min(stratum.spells, remembered);
  stratum.mean += part * off;
  stratum.variance += part * ((1 - part) * off * off - stratum.variance);
}

void CostFactor::note_recorded(const SpellTime& spell, Depth depth, std::uint64_t measured,
                               const Costs& costs) noexcept {
  const std::uint64_t key = key_of(spell);
  const Stratum& stratum = stratum_of(key);
  if (stratum.key != key || stratum.spells < enough || stratum.variance <= 0) return;
  const auto at = static_cast<unsigned>(depth);
  const double n = static_cast<double>(measured) / spell.sync_points;
  // The second term is the variance of the mean.
  const double variance = stratum.variance * (1 + 1.0 / std::min(stratum.spells, remembered));
  const double limit = widest * std::sqrt(variance);
  // An upper limit without the expected cost would cut off the cost of an expensive spell.
  const double expected = value(depth, costs) * costs.of[at] * n;
  const double r = std::clamp(ticks_per_sync_point(spell) - stratum.mean, -limit, expected + limit);
  for (unsigned of = 0; of < depths; ++of) {
    products_[of] *= kept;
    squares_[of] *= kept;
  }
  products_[at] += n * r / variance;
  squares_[at] += n * n / variance;
}

double CostFactor::value(Depth depth, const Costs& costs) const noexcept {
  constexpr double precision = 1 / (prior_deviation * prior_deviation);
  double of_all = precision, products = precision * prior;
  for (unsigned at = 0; at < depths; ++at) {
    of_all += costs.of[at] * costs.of[at] * squares_[at];
    products += costs.of[at] * products_[at];
  }
  const auto at = static_cast<unsigned>(depth);
  const double of_depth = precision + costs.of[at] * costs.of[at] * squares_[at];
  const double fit = (precision * products / of_all + costs.of[at] * products_[at]) / of_depth;
  return std::clamp(fit + 1 / std::sqrt(of_depth), least, most);
}

}  // namespace tare::recorder
