// Estimates by what factor measuring delays the program more, or less, than the weighed calls say.
//
// Weighed calls are timed inside the wrappers. The data that wrappers evict from the caches, and the time that other
// ranks wait for a delayed one, show only in the time of whole spells (recorder/spells.h). So does what costs nothing:
// the time of wrappers in which the rank would have waited for others anyway. Some spells only count calls, because the
// budget allows no more or because they are controls of a trial. A recorded spell is compared with counted spells of
// the same call sites, a similar length and similar numbers of calls. Let r be its ticks beyond their mean, n the
// number of its calls, and c the ticks of a call at its depth by the account. The factor is the f for which f * c * n
// fits r best: a regression through the origin, weighted by the variance of such spells, with a normal prior for f
// (Gelman et al., Bayesian Data Analysis, 3rd ed., section 14.8). The prior mean of one depth is what fits all depths.
// While there are few spells, the prior decides. The sums of the regression do not contain c, so that the account may
// be wrong for a while, as it is when a program begins.
//
// Chance decides which spells only count, so the two kinds do not differ otherwise. Only the owning thread uses a
// CostFactor. It allocates nothing. Zero-initialised.
#pragma once

#include <cstdint>

#include "recorder/budget/governor.h"

namespace tare::recorder {

// What a thread did between two synchronisation points, or in a timed spell: of that, calls are the progress.
struct SpellTime {
  std::uint32_t first_site;
  std::uint32_t last_site;
  std::uint32_t sync_points;  // more than 0; of a timed spell, its calls
  std::uint64_t calls;        // all of them
  std::uint64_t ticks;        // without drains
};

class CostFactor {
 public:
  // Mean and standard deviation of the prior. Trials of a multigrid, a halo exchange, sweeps, and broadcasts with
  // barriers found factors of 0.3 to 2.8 (docs/true-weight.md).
  static constexpr double prior = 0.9, prior_deviation = 0.35;
  static constexpr double least = 0.4, most = 3;

  // A spell that only counted calls has ended.
  void note_counted(const SpellTime& spell) noexcept;
  // A spell has ended of which `measured` calls were recorded at one depth. `costs`: by the account.
  void note_recorded(const SpellTime& spell, Depth depth, std::uint64_t measured, const Costs& costs) noexcept;

  // For calls at one depth: at least `least`, at most `most`. The depths differ, because the account is not equally
  // wrong about all parts of the wrappers. To be on the safe side the factor lies a standard deviation above what fits
  // best.
  double value(Depth depth, const Costs& costs) const noexcept;

 private:
  // Counted spells of one kind. Times are ticks for each synchronisation point. Old spells lose their weight, because
  // the speed of the machine drifts.
  struct Stratum {
    std::uint64_t key;  // 0: there is none
    std::uint32_t spells;
    double mean;
    double variance;
  };
  static constexpr unsigned strata = 64;
  static constexpr std::uint32_t remembered = 16;  // spells that the mean is made of
  static constexpr std::uint32_t enough = 6;       // counted spells, to compare a recorded one with them
  static constexpr double widest = 4;              // standard deviations; what lies beyond is taken for a disturbance
  static constexpr double kept = 1 - 1.0 / 4096;   // the weight of old sums, at each new spell

  Stratum& stratum_of(std::uint64_t key) noexcept { return strata_[key % strata]; }

  Stratum strata_[strata];
  // Sums over spells of n * r and of n * n, in units of their variance, by depth.
  double products_[depths], squares_[depths];
};

}  // namespace tare::recorder
