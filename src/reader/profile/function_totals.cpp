#include "reader/profile/function_totals.h"

#include <map>
#include <utility>

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
  std::map<std::pair<std::int32_t, std::uint16_t>, Of> spells;  // by process and function
  for (const Process& process : processes) {
    if (process.spell_sums.empty()) continue;
    const Unrepresented unrepresented = unrepresented_calls(process);
    for (const SpellSums& sums : process.spell_sums) {
      if (sums.site != format::all_sites) continue;
      const std::uint16_t function = FunctionNames::lookup(*process.functions, sums.function);
      spells[{static_cast<std::int32_t>(&process - processes.data()), function}] = {&process, &sums, unrepresented};
    }
  }
  std::vector<FunctionTotal> totals;
  for (const ProfileSum& sum : profile) {
    FunctionTotal& total = totals.emplace_back();
    total.world = sum.key.world;
    total.rank = sum.key.rank;
    total.process = sum.key.process;
    total.function = sum.key.function;
    total.calls = sum.calls;
    total.measured_calls = sum.timed_calls;
    const auto counted = static_cast<double>(sum.calls - sum.timed_calls);
    const auto found = spells.find({total.process, total.function});
    const bool has_spells = found != spells.end();
    const double rate = has_spells ? found->second.process->clock.rate() : 0;
    const double tick_ns = rate > 0 ? rate : 1;
    const auto estimated = [&](decltype(ticks_of_counted)* estimate, double measured) {
      return of_counted(estimate, counted, static_cast<double>(sum.timed_calls), measured,
                        has_spells ? found->second.unrepresented : Unrepresented{},
                        has_spells ? found->second.sums : nullptr);
    };
    Estimate time_ns = estimated(ticks_of_counted, static_cast<double>(sum.time_ns) / tick_ns);
    time_ns.value *= tick_ns;
    if (time_ns.error) *time_ns.error *= tick_ns;
    const Estimate bytes = estimated(bytes_of_counted, static_cast<double>(sum.bytes));
    total.time_ns = static_cast<double>(sum.time_ns) + time_ns.value;
    total.time_error_ns = with_error_of_sample(time_ns.error, sum);
    total.bytes = static_cast<double>(sum.bytes) + bytes.value;
    total.bytes_error = bytes.error;
  }
  return totals;
}

}  // namespace tare::reader
