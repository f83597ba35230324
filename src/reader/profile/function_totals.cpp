#include "reader/profile/function_totals.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

namespace tare::reader {
namespace {

using format::SpellSums;

constexpr std::uint32_t least_spells = 3;
constexpr double most_behind_cuts = 0.02;  // of the counted calls

// That 95 % of Student's distribution lie within, from 2 degrees of freedom on: Cornish and Fisher's expansion
// (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5), right to 1 %.
double student_95(double freedom) noexcept {
  constexpr double z = 1.959964, z2 = z * z;
  constexpr double terms[] = {z, (z2 + 1) * z / 4, ((5 * z2 + 16) * z2 + 3) * z / 96,
                              (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384,
                              ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160};
  double sum = 0;
  for (std::size_t i = std::size(terms); i-- > 0;) sum = sum / freedom + terms[i];
  return sum;
}

// Sums of weight - 1 times x and y, and of weight * (weight - 1) times their products, over so many spells.
struct Sums {
  std::uint32_t spells;
  double x, y, xx, xy, yy;
};

Estimate estimate(double calls, const Sums& of) noexcept {
  if (calls == 0) return {0, 0};
  if (of.spells < least_spells || !(of.x > 0)) return {};
  const double ratio = of.y / of.x;
  const double residuals = std::max(0.0, of.yy - 2 * ratio * of.xy + ratio * ratio * of.xx);
  const double spells = of.spells;
  const double deviation = calls / of.x * std::sqrt(residuals * spells / (spells - 1));
  return {calls * ratio, student_95(spells - 1) * deviation};
}

// Which part of the counted calls was made behind cuts, in spells that turned out dearer than others. No spell that was
// measured to its end stands for those.
double share_behind_cuts(const Process& process) {
  double counted = 0, behind_cuts = 0;
  for (const auto& [number, spell] : process.spells) {
    counted += static_cast<double>(spell.counted_calls);
    if (spell.measured && spell.cut) behind_cuts += static_cast<double>(spell.counted_calls);
  }
  return counted > 0 ? behind_cuts / counted : 0;
}

}  // namespace

Estimate ticks_of_counted(double calls, const SpellSums& sums) noexcept {
  return estimate(calls, {sums.spells, sums.calls, sums.ticks, sums.calls_calls, sums.calls_ticks, sums.ticks_ticks});
}

Estimate bytes_of_counted(double calls, const SpellSums& sums) noexcept {
  return estimate(calls, {sums.spells, sums.calls, sums.bytes, sums.calls_calls, sums.calls_bytes, sums.bytes_bytes});
}

std::vector<FunctionTotal> function_totals(const std::vector<Process>& processes,
                                           const std::vector<ProfileSum>& profile) {
  struct Of {
    const Process* process;
    const SpellSums* sums;
    bool has_errors;
  };
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint16_t>, Of> spells;
  for (const Process& process : processes) {
    if (process.spell_sums.empty()) continue;
    const bool has_errors = share_behind_cuts(process) <= most_behind_cuts;
    for (const SpellSums& sums : process.spell_sums) {
      const std::uint16_t function = FunctionNames::lookup(*process.functions, sums.function);
      spells[{process.world, process.record.rank, function}] = {&process, &sums, has_errors};
    }
  }
  std::vector<FunctionTotal> totals;
  for (const ProfileSum& sum : profile) {
    FunctionTotal& total = totals.emplace_back();
    total.world = sum.key.world;
    total.rank = sum.key.rank;
    total.function = sum.key.function;
    total.calls = sum.calls;
    total.measured_calls = sum.timed_calls;
    const auto counted = static_cast<double>(sum.calls - sum.timed_calls);
    Estimate ticks{}, bytes{};
    double tick_ns = 0;
    if (const auto found = spells.find({total.world, total.rank, total.function}); found != spells.end()) {
      ticks = ticks_of_counted(counted, *found->second.sums);
      bytes = bytes_of_counted(counted, *found->second.sums);
      tick_ns = found->second.process->clock.rate();
      if (counted > 0 && !found->second.has_errors) ticks.error = bytes.error = std::nullopt;
    } else if (counted == 0) {
      ticks.error = bytes.error = 0;
    }
    total.time_ns = static_cast<double>(sum.time_ns) + ticks.value * tick_ns;
    if (ticks.error) total.time_error_ns = *ticks.error * tick_ns;
    total.bytes = static_cast<double>(sum.bytes) + bytes.value;
    total.bytes_error = bytes.error;
  }
  return totals;
}

}  // namespace tare::reader
