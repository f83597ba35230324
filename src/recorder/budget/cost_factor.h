// Estimates by what factor measuring costs more than the weighed calls say.
//
// Weighed calls are timed inside the wrappers. The data that wrappers evict from the caches, and the time that other
// ranks wait for a delayed one, show only in the time of whole spells (recorder/spells.h). Some spells only count
// calls, because the budget allows no more or because they are controls of a trial. A recorded spell is compared with
// counted spells of the same call sites, a similar length and similar numbers of calls. Let r be its ticks beyond their
// mean, and a the ticks that the weighed calls explain. The factor is the f for which a * f fits r best: a regression
// through the origin, weighted by the variance of such spells, with a normal prior for f (Gelman et al., Bayesian Data
// Analysis, 3rd ed., section 14.8). While there are few spells, the prior decides.
//
// Chance decides which spells only count, so the two kinds do not differ otherwise. Only the owning thread uses a
// CostFactor. It allocates nothing. Zero-initialised.
#pragma once

#include <cstdint>

namespace tare::recorder {

// What a thread did between two passages.
struct SpellTime {
  std::uint32_t first_site;
  std::uint32_t last_site;
  std::uint32_t passages;  // more than 0
  std::uint64_t calls;     // all of them
  std::uint64_t ticks;     // without drains
};

class CostFactor {
 public:
  // Mean and standard deviation of the prior. Trials of a multigrid, a halo exchange, sweeps, and broadcasts with
  // barriers found factors of 0.6 to 2.8 (docs/true-weight.md).
  static constexpr double prior = 1.25, prior_deviation = 0.5;
  static constexpr double least = 1, most = 3;

  // A spell that only counted calls has ended.
  void note_counted(const SpellTime& spell) noexcept;
  // A spell that was recorded at one depth has ended. `account`: the ticks that it cost by the weighed calls.
  void note_recorded(const SpellTime& spell, double account) noexcept;

  // At least `least`, at most `most`.
  double value() const noexcept;

 private:
  // Counted spells of one kind. Times are ticks for each passage. Old spells lose their weight, because the speed of
  // the machine drifts.
  struct Stratum {
    std::uint64_t key;  // 0: there is none
    std::uint32_t spells;
    double mean;
    double variance;
  };
  static constexpr unsigned strata = 64;
  static constexpr std::uint32_t remembered = 16;  // spells that the mean is made of
  static constexpr std::uint32_t enough = 6;       // counted spells, to compare a recorded one with them
  static constexpr double widest = 3;              // standard deviations; what lies beyond is taken for a disturbance
  static constexpr double kept = 1 - 1.0 / 4096;   // the weight of old sums, at each new spell

  Stratum& stratum_of(std::uint64_t key) noexcept { return strata_[key % strata]; }

  Stratum strata_[strata];
  // Sums over spells of a * r and of a * a, in units of their variance.
  double products_, squares_;
};

}  // namespace tare::recorder
