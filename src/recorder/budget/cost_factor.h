// How much more measuring costs than its account says.
//
// The account is what clocks inside the wrappers see. What these displace from the caches, and what the delay of one
// rank makes others wait, shows in the time of whole spells alone (recorder/spells.h). Where some spells only count
// calls, because the budget allows no more or as controls of a trial, the others are compared with them: a spell at the
// same call sites, of like length, with like numbers of calls, takes r ticks more than those on average, of which the
// account knows a. The factor is the f that a * f fits r best with: a regression through the origin, weighted by the
// variance of such spells, with a normal prior for f (Gelman et al., Bayesian Data Analysis, 3rd ed., section 14.8).
// Until the spells say more, the prior holds.
//
// Which spells only count is left to chance, so nothing else differs between both kinds. Only the owning thread uses
// it; takes no memory. Zero-initialised.
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
  // What is known beforehand: mean and standard deviation. Trials of a multigrid, a halo exchange, sweeps, and
  // broadcasts with barriers said 0.6 to 2.8 times the account (docs/true-weight.md).
  static constexpr double prior = 1.25, prior_deviation = 0.5;
  static constexpr double least = 1, most = 3;

  // A spell has ended whose calls were only counted.
  void note_counted(const SpellTime& spell) noexcept;
  // One has ended that was recorded, from begin to end at one depth; `account`: the ticks that it cost.
  void note_recorded(const SpellTime& spell, double account) noexcept;

  // At least `least`, at most `most`.
  double value() const noexcept;

 private:
  // Counted spells that are alike; times are ticks of a passage. Old ones are forgotten, as the machine's speed drifts.
  struct Stratum {
    std::uint64_t key;  // 0: there is none
    std::uint32_t spells;
    double mean;
    double variance;
  };
  static constexpr unsigned strata = 64;
  static constexpr std::uint32_t remembered = 16;  // spells
  static constexpr std::uint32_t enough = 6;       // to compare with
  static constexpr double widest = 3;              // standard deviations: beyond that the machine did something else
  static constexpr double kept = 1 - 1.0 / 4096;   // of what is known, with each spell

  Stratum& stratum_of(std::uint64_t key) noexcept { return strata_[key % strata]; }

  Stratum strata_[strata];
  // Sums over spells of a * r and of a * a, in units of their variance.
  double products_, squares_;
};

}  // namespace tare::recorder
