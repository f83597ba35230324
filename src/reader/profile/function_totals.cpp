#include "reader/profile/function_totals.h"

#include <map>
#include <tuple>

#include "reader/model/counted_calls.h"

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
    Estimate time_ns{}, bytes{};
    const auto found = spells.find({total.world, total.rank, total.function});
    if (found != spells.end()) {
      const SpellSums& sums = *found->second.sums;
      const Counted of_function =
          counted_of(counted, static_cast<double>(sum.calls), found->second.unrepresented, sums);
      time_ns = ticks_of_counted(of_function, sums, sums);
      bytes = bytes_of_counted(of_function, sums, sums);
      const double tick_ns = found->second.process->clock.rate();
      time_ns.value *= tick_ns;
      if (time_ns.error) *time_ns.error *= tick_ns;
      if (counted > 0 && !are_errors_known(of_function)) time_ns.error = bytes.error = std::nullopt;
    }
    if (counted == 0) {
      time_ns = bytes = {0, 0};
    } else if (found == spells.end() || !(found->second.sums->calls > 0)) {
      const auto measured = static_cast<double>(sum.timed_calls);
      time_ns = extrapolated(counted, measured, static_cast<double>(sum.time_ns));
      bytes = extrapolated(counted, measured, static_cast<double>(sum.bytes));
    }
    total.time_ns = static_cast<double>(sum.time_ns) + time_ns.value;
    total.time_error_ns = with_error_of_sample(time_ns.error, sum);
    total.bytes = static_cast<double>(sum.bytes) + bytes.value;
    total.bytes_error = bytes.error;
  }
  return totals;
}

}  // namespace tare::reader
