#include "reader/model/account.h"

#include <algorithm>
#include <map>

#include "reader/model/counted_calls.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using namespace tare::format;

// How long threads have been in the calls that they are in now, or were in when the process was killed, or exited: a
// library may call exit(). Profiles do not contain these calls.
std::uint64_t ticks_under_way(const Process& process) {
  const ProcessRecord& r = process.record;
  if (process.state == State::finished || process.state == State::aborted || r.init_leave == 0 || r.finalize_enter != 0)
    return 0;
  std::uint64_t ticks = 0;
  for (const ThreadCall& call : process.calls) {
    if (is_in_mpi(call) && call.enter >= r.init_leave && call.enter < process.end) ticks += process.end - call.enter;
  }
  return ticks;
}

double cost_ns(std::uint64_t count, std::uint32_t cost_ps) { return static_cast<double>(count) * cost_ps / 1000; }

// The net time that the profile does not cover, because calls were only counted. Earlier files tell that of spells
// alone, and the earliest not even that: then the share of such calls in the calls of a spell is taken for their share
// in its time.
std::uint64_t unmeasured_ticks(const Process& process) {
  const ProcessRecord& r = process.record;
  if (r.counted_ticks != 0 || r.counted_since != 0) {
    const std::uint64_t since = std::max(r.counted_since, r.init_leave);
    const std::uint64_t until = r.finalize_enter != 0 ? r.finalize_enter : process.end;
    return r.counted_ticks + (r.counted_since != 0 && until > since ? until - since : 0);
  }
  double ticks = 0;
  for (const auto& [number, spell] : process.spells) {
    const auto counted = static_cast<double>(spell.counted_calls), measured = static_cast<double>(spell.measured_calls);
    if (spell.counted_ticks)
      ticks += static_cast<double>(std::min(*spell.counted_ticks, spell.ticks));
    else if (counted > 0)
      ticks += static_cast<double>(spell.ticks) * counted / (counted + measured);
  }
  return static_cast<std::uint64_t>(ticks);
}

// Half of the confidence interval of a share, at most: nothing could be decided by a wider one.
constexpr double max_error_of_share = 0.05;

// The ticks in calls that were only counted; no error if it is not known for more of them than may be. The errors of
// functions add up, because the same spells are measured of all.
Estimate ticks_of_counted_calls(const Process& process, const Totals& totals) {
  std::map<std::uint16_t, const SpellSums*> sums_of;
  for (const SpellSums& sums : process.spell_sums)
    if (sums.site == format::all_sites) sums_of[FunctionNames::lookup(*process.functions, sums.function)] = &sums;
  const Unrepresented unrepresented = unrepresented_calls(process);
  double counted = 0, unknown = 0, ticks = 0, error = 0;
  for (const auto& [function, of] : totals.by_function) {
    const auto calls = static_cast<double>(of.counted);
    const auto found = sums_of.find(function);
    const Estimate estimate =
        of_counted(ticks_of_counted, calls, static_cast<double>(of.measured), static_cast<double>(of.ticks),
                   unrepresented, found == sums_of.end() ? nullptr : found->second);
    ticks += estimate.value;
    counted += calls;
    error += estimate.error.value_or(0);
    if (!estimate.error) unknown += calls;
  }
  return {ticks, Unrepresented::is_known(counted, unknown) ? std::optional(error) : std::nullopt};
}

}  // namespace

std::optional<double> mpi_share(const Account& account) {
  const std::int64_t all_ns = sum(account.threads_ns, account.counted_ns);
  if (all_ns <= 0) return 0.0;
  if (!account.whole_mpi_ns) return std::nullopt;
  // A timed call also represents untimed calls. If it was interrupted, the estimate can exceed the lifetime of the
  // thread.
  return std::min(static_cast<double>(*account.whole_mpi_ns) / static_cast<double>(all_ns), 1.0);
}

Account account_of(const Process& process, const Totals& totals) {
  const ProcessRecord& r = process.record;
  const ClockMap& clock = process.clock;
  Account account;
  account.start_ns = clock.unix_ns(begin_ticks(process));
  account.wall_ns = clock.duration_ns(life_ticks(process));
  account.net_ns = clock.duration_ns(net_ticks(process));
  const std::uint64_t under_way = ticks_under_way(process);
  account.mpi_ns = clock.duration_ns(totals.net_ticks + under_way);
  account.counted_ns = std::min(clock.duration_ns(unmeasured_ticks(process)), account.net_ns);
  const std::int64_t measured_ns = account.net_ns - account.counted_ns;
  account.threads_ns =
      sum(std::max(measured_ns, std::min(account.mpi_ns, account.net_ns)), clock.duration_ns(totals.other_ticks));
  account.other_recorded_ns = totals.other_recorded_ns;
  const bool beyond_net = totals.beyond_net || totals.stack_samples != 0;
  account.recorded_ns = sum(beyond_net ? account.wall_ns : account.net_ns, account.other_recorded_ns);
  account.unreturned_ns = clock.duration_ns(under_way);
  account.whole_mpi_ns = account.mpi_ns;
  if (account.counted_ns > 0) {
    const Estimate ticks = ticks_of_counted_calls(process, totals);
    const std::int64_t all_ns = sum(account.threads_ns, account.counted_ns);
    if (ticks.error && *ticks.error * clock.rate() <= max_error_of_share * static_cast<double>(all_ns))
      account.whole_mpi_ns = std::min(sum(account.mpi_ns, rounded_ns(ticks.value * clock.rate())), all_ns);
    else
      account.whole_mpi_ns = std::nullopt;
  }
  const Weight weight = weight_of(totals.weighed);
  const double ns = clock.rate();
  account.wrapper_ns = rounded_ns(ns * weight.ticks + cost_ns(totals.counted, r.lookup_cost_ps) +
                                  cost_ns(totals.api_events, r.event_cost_ps));
  account.wrapper_error_ns = ns * weight.half_width;
  account.weighed = weight.weighed;
  account.call_ns = ns * weight.call;
  account.timed_call_ns = ns * weight.timed_call;
  account.hook_init_ns = clock.duration_ns(r.hook_init);
  account.hook_finalize_ns = clock.duration_ns(r.hook_finalize);
  account.chooser_ns = clock.duration_ns(r.chooser_ticks);
  account.analysis_ns = clock.duration_ns(r.analysis_ticks);
  account.reading_ns = clock.duration_ns(totals.scheduling.cost_ticks);
  account.stack_ns = clock.duration_ns(totals.stack_ticks);
  account.flush_ns = clock.duration_ns(totals.flush_ticks);
  account.offload_ns = clock.duration_ns(process.offloads.ticks);
  account.offload_max_ns = clock.duration_ns(process.offloads.ticks_max);
  account.offload_wait_ns = clock.duration_ns(process.offloads.waited_ticks);
  account.drain_ns = clock.duration_ns(totals.tared.ticks);
  account.spent_ns = static_cast<double>(account.wrapper_ns) + static_cast<double>(account.flush_ns) +
                     static_cast<double>(account.offload_ns) + static_cast<double>(account.stack_ns) +
                     static_cast<double>(sum(sum(account.chooser_ns, account.analysis_ns), account.reading_ns));
  if (account.recorded_ns > 0)
    account.net_share = std::min(account.spent_ns / static_cast<double>(account.recorded_ns), 1.0);
  return account;
}

}  // namespace tare::reader
