#include "reader/profile/function_totals.h"

#include <map>
#include <tuple>

#include "reader/profile/counted_calls.h"

namespace tare::reader {

using format::SpellSums;

std::vector<FunctionTotal> function_totals(const std::vector<Process>& processes,
                                           const std::vector<ProfileSum>& profile) {
  struct Of {
    const Process* process;
    const SpellSums* sums;
    Unrepresented unrepresented;
  };
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint16_t>, Of> spells;
  for (const Process& process : processes) {
    if (process.spell_sums.empty()) continue;
    const Unrepresented unrepresented = unrepresented_calls(process);
    for (const SpellSums& sums : process.spell_sums) {
      if (sums.site != format::all_sites) continue;
      const std::uint16_t function = FunctionNames::lookup(*process.functions, sums.function);
      spells[{process.world, process.record.rank, function}] = {&process, &sums, unrepresented};
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
      const SpellSums& sums = *found->second.sums;
      const Unrepresented& unrepresented = found->second.unrepresented;
      const double behind_cuts = unrepresented.behind_cuts_of(counted, sums);
      const Counted of_function{counted, behind_cuts, sum.calls == 0 ? 0 : counted / static_cast<double>(sum.calls)};
      ticks = ticks_of_counted(of_function, sums, sums);
      bytes = bytes_of_counted(of_function, sums, sums);
      tick_ns = found->second.process->clock.rate();
      if (counted > 0 && !Unrepresented::is_known(counted, behind_cuts)) ticks.error = bytes.error = std::nullopt;
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
