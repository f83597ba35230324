#include "reader/model/counted_calls.h"

#include <algorithm>
#include <cmath>

#include "reader/model/quantiles.h"

namespace tare::reader {
namespace {

using format::SpellSums;

constexpr std::uint32_t min_spells = 3;
constexpr double uneven_spells = 1.5;
constexpr double max_unrepresented = 0.1;  // of the counted calls

// The effective sample size: how many spells of equal weight would give an estimate of the same accuracy (Kish, Survey
// Sampling, Wiley 1965). It is low if a few spells with many calls or large weights dominate. It is multiplied by the
// share of the other calls, (weight - 1) / weight if weights are equal.
double effective_spells(double y, double yy) noexcept { return yy > 0 ? y * y / yy : 0; }

// Sums over spells of a quantity y, where x are the calls of the function: y with the factor weight - 1; y * y and x *
// y with the factor weight * (weight - 1).
struct Sums {
  double y, yy, xy;
};

// `at`: the sums of the function, or those of the function at one site.
Estimate estimate(const Counted& counted, const Sums& of, const SpellSums& at, const SpellSums& function) noexcept {
  const double calls = counted.calls;
  if (calls == 0) return {0, 0};
  if (!(function.calls > 0)) return {};
  const double ratio = of.y / function.calls;
  double effective = effective_spells(at.calls, at.calls_calls);
  if (at.spells < min_spells || effective < min_spells * counted.share) return {calls * ratio, std::nullopt};
  // One spell or two may have nearly all of it, as they have of time if few calls are long.
  if (of.yy > 0) effective = std::min(effective, effective_spells(of.y, of.yy));
  if (effective < uneven_spells * counted.share) return {calls * ratio, std::nullopt};
  // Spells with calls of the function but none at the site count, too: they show how much spells differ.
  const double residuals = std::max(0.0, of.yy - 2 * ratio * of.xy + ratio * ratio * function.calls_calls);
  const double spells = std::clamp<double>(effective, min_spells, at.spells);
  const double deviation = calls / function.calls * std::sqrt(residuals * spells / (spells - 1));
  const double of_unrepresented = at.calls > 0 ? counted.unrepresented * of.y / at.calls : 0;
  return {calls * ratio, student_95(spells - 1) * deviation + of_unrepresented};
}

}  // namespace

Estimate ticks_of_counted(const Counted& counted, const SpellSums& of, const SpellSums& function) noexcept {
  return estimate(counted, {of.ticks, of.ticks_ticks, of.ticks_of_function}, of, function);
}

Estimate bytes_of_counted(const Counted& counted, const SpellSums& of, const SpellSums& function) noexcept {
  return estimate(counted, {of.bytes, of.bytes_bytes, of.bytes_of_function}, of, function);
}

Estimate extrapolated(double counted, double measured_calls, double measured) noexcept {
  return {measured_calls > 0 ? counted * measured / measured_calls : 0, std::nullopt};
}

Estimate calls_of_counted(const Counted& counted, const SpellSums& of, const SpellSums& function) noexcept {
  return estimate(counted, {of.calls, of.calls_calls, of.calls_of_function}, of, function);
}

double Unrepresented::behind_cuts_of(double counted_of_function, const SpellSums& function) const noexcept {
  return std::min(counted_of_function, by_function ? function.behind_cuts : behind_cuts);
}

bool Unrepresented::is_known(double counted, double behind_cuts) noexcept {
  return behind_cuts <= max_unrepresented * counted;
}

bool Unrepresented::are_sites_known() const noexcept { return leaked <= max_unrepresented * counted; }

Unrepresented unrepresented_calls(const Process& process) {
  Unrepresented unrepresented;
  for (const auto& [number, spell] : process.spells) {
    const auto counted = static_cast<double>(spell.counted_calls);
    unrepresented.counted += counted;
    if (spell.measured && spell.cut) unrepresented.behind_cuts += counted;
    // Every spell measures its last call.
    if (!spell.measured && spell.has_requests && spell.measured_calls > 1)
      unrepresented.leaked += static_cast<double>(spell.measured_calls - 1);
  }
  // Runs of before this was recorded have 0 everywhere.
  for (const SpellSums& sums : process.spell_sums)
    unrepresented.by_function |= sums.site == format::all_sites && sums.behind_cuts != 0;
  return unrepresented;
}

Estimate of_counted(decltype(ticks_of_counted)* estimate, double counted, double measured_calls, double measured,
                    const Unrepresented& unrepresented, const SpellSums* sums) noexcept {
  if (counted == 0) return {0, 0};
  if (sums == nullptr || !(sums->calls > 0)) return extrapolated(counted, measured_calls, measured);
  const double behind_cuts = unrepresented.behind_cuts_of(counted, *sums);
  Estimate found = estimate({counted, behind_cuts, counted / (counted + measured_calls)}, *sums, *sums);
  if (!Unrepresented::is_known(counted, behind_cuts)) found.error = std::nullopt;
  return found;
}

}  // namespace tare::reader
