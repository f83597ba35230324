#include "reader/model/process.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "format/function_meaning.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using namespace tare::format;

bool is_spawned(const Process& process) { return (process.record.flags & spawned) != 0; }

// When the process began: at its first call; without MPI, before its main.
std::uint64_t begin_of(const Process& process) {
  const ProcessRecord& r = process.record;
  if (r.abi != Abi::none || process.clock.rate() <= 0) return r.attach;
  const auto before = static_cast<std::uint64_t>(1000.0 * r.before_attach_us / process.clock.rate());
  return r.attach - std::min(before, r.attach);
}

// From the end of MPI_Init to the begin of MPI_Finalize, or to the end of a process that did not come so far. The whole
// lifetime if the process calls neither.
std::uint64_t net_ticks(const Process& process) {
  const ProcessRecord& r = process.record;
  if (r.init_enter != 0 && r.init_leave == 0) return 0;
  const std::uint64_t from = r.init_leave != 0 ? r.init_leave : begin_of(process);
  const std::uint64_t to = r.finalize_enter != 0 ? r.finalize_enter : process.end;
  return to > from ? to - from : 0;
}

// How long threads have been in the calls that they are in now, or were in when the process was killed. Profiles do not
// contain these calls.
std::uint64_t ticks_under_way(const Process& process) {
  const ProcessRecord& r = process.record;
  const bool has_ended =
      process.state == State::finished || process.state == State::exited || process.state == State::aborted;
  if (has_ended || r.init_leave == 0 || r.finalize_enter != 0) return 0;
  std::uint64_t ticks = 0;
  for (const ThreadCall& call : process.calls) {
    if (is_in_mpi(call) && call.enter >= r.init_leave && call.enter < process.end) ticks += process.end - call.enter;
  }
  return ticks;
}

double cost_ns(std::uint64_t count, std::uint32_t cost_ps) { return static_cast<double>(count) * cost_ps / 1000; }

struct KnownWorld {
  std::int32_t size;
  bool spawned;
  std::set<std::int32_t> ranks;
};

}  // namespace

const char* name_of(State state) {
  switch (state) {
    case State::running:
      return "running";
    case State::finished:
      return "finished";
    case State::exited:
      return "exited";
    case State::aborted:
      return "aborted";
    case State::unknown:
      return "unknown";
    case State::killed:
      break;
  }
  return "killed";
}

std::string_view mpi_library_of(const ProcessRecord& record) {
  const std::string_view all(record.mpi_library);
  return all.substr(0, all.find('\n'));
}

double mpi_share(const Account& account) {
  if (account.threads_ns <= 0) return 0.0;
  // A timed call also represents untimed calls. If it was interrupted, the estimate can exceed the lifetime of the
  // thread.
  return std::min(static_cast<double>(account.mpi_ns) / static_cast<double>(account.threads_ns), 1.0);
}

std::vector<bool> outside_net_time(const FunctionNames& names) {
  std::vector<bool> outside;
  for (unsigned number = 0; number < names.names().size(); ++number)
    outside.push_back(meaning_of(number).bounds_net_time() || !names.is_of_mpi(static_cast<std::uint16_t>(number)));
  return outside;
}

void add_profile(Totals& totals, const Process& process, const Profile& profile, const std::vector<bool>& outside_net) {
  for (const ProfileRow& row : profile.rows) {
    totals.calls += row.calls;
    totals.estimated += row.estimated;
    const std::uint16_t function = FunctionNames::lookup(*process.functions, row.function);
    if (meaning_of(function).bounds_net_time()) continue;
    if (!outside_net[function]) totals.net_ticks += row.ticks;
    const std::uint64_t estimated = std::min(row.calls, row.estimated);
    totals.weighed.calls[static_cast<unsigned>(meaning_of(function).kind)] += row.calls - estimated;
    totals.weighed.calls[untimed] += estimated;
  }
  for (const CountedCalls& counted : profile.counted) totals.counted += counted.calls;
  for (const WeighedCalls& weighed : profile.weighed) totals.weighed.add(weighed);
  totals.full |= profile.summary.full;
  totals.dropped += profile.summary.dropped;
  totals.api_events += profile.summary.api_events;
  totals.flushes += profile.summary.flushes;
  totals.flush_ticks += profile.summary.flush_ticks;
  totals.flush_bytes += profile.summary.flush_bytes;
  totals.tared.drains += profile.summary.tared.drains;
  totals.tared.ticks += profile.summary.tared.ticks;
  totals.tared.bytes += profile.summary.tared.bytes;
  totals.overwritten_bytes += profile.summary.overwritten_bytes;
}

void add_scheduling(Totals& totals, const SchedulingSums& sums) {
  SchedulingSums& to = totals.scheduling;
  constexpr std::uint64_t SchedulingSums::*counters[] = {
      &SchedulingSums::readings,         &SchedulingSums::cost_ticks,  &SchedulingSums::observed_ns,
      &SchedulingSums::switches,         &SchedulingSums::preemptions, &SchedulingSums::page_faults,
      &SchedulingSums::major_page_faults};
  for (const auto counter : counters) to.*counter += sums.*counter;
  for (const auto of : {&SchedulingSums::all, &SchedulingSums::outside}) {
    (to.*of).ns += (sums.*of).ns;
    (to.*of).descheduled_ns += (sums.*of).descheduled_ns;
    (to.*of).unknown_ns += (sums.*of).unknown_ns;
  }
  for (unsigned i = 0; i < processor_words; ++i) to.allowed[i] |= sums.allowed[i];
}

void add_other_threads(Totals& totals, const Process& process, const Profile& profile,
                       const std::vector<bool>& outside_net, bool is_sampled) {
  std::uint64_t ticks = 0;
  for (const PhaseEntry& phase : profile.phases) ticks += phase.ticks;
  const LocationSummary& summary = profile.summary;
  if (summary.in_use != 0 && process.end > summary.phase_since) ticks += process.end - summary.phase_since;
  ticks = std::min(ticks, net_ticks(process));
  const bool calls_mpi = std::any_of(profile.rows.begin(), profile.rows.end(), [&](const ProfileRow& row) {
    return row.calls != 0 && !outside_net[FunctionNames::lookup(*process.functions, row.function)];
  });
  if (calls_mpi) totals.other_ticks += ticks;
  const bool calls =
      std::any_of(profile.rows.begin(), profile.rows.end(), [](const ProfileRow& row) { return row.calls != 0; });
  if (calls || summary.api_events != 0 || is_sampled) totals.other_recorded_ticks += ticks;
}

void add_totals(Totals& to, const Totals& from) {
  to.calls += from.calls;
  to.estimated += from.estimated;
  to.counted += from.counted;
  to.weighed.add(from.weighed);
  to.dropped += from.dropped;
  to.flushes += from.flushes;
  to.flush_ticks += from.flush_ticks;
  to.flush_bytes += from.flush_bytes;
  to.tared.drains += from.tared.drains;
  to.tared.ticks += from.tared.ticks;
  to.tared.records += from.tared.records;
  to.tared.raw_bytes += from.tared.raw_bytes;
  to.tared.bytes += from.tared.bytes;
  to.overwritten_bytes += from.overwritten_bytes;
  to.full |= from.full;
  to.net_ticks += from.net_ticks;
  to.other_ticks += from.other_ticks;
  to.other_recorded_ticks += from.other_recorded_ticks;
  to.records += from.records;
  to.api_events += from.api_events;
  to.stored_bytes += from.stored_bytes;
  add_scheduling(to, from.scheduling);
  to.stack_samples += from.stack_samples;
  to.stack_ticks += from.stack_ticks;
}

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

Account account_of(const Process& process, const Totals& totals) {
  const ProcessRecord& r = process.record;
  const ClockMap& clock = process.clock;
  Account account;
  const std::uint64_t begin = begin_of(process);
  account.start_ns = clock.unix_ns(begin);
  account.wall_ns = clock.duration_ns(process.end > begin ? process.end - begin : 0);
  account.net_ns = clock.duration_ns(net_ticks(process));
  const std::uint64_t under_way = ticks_under_way(process);
  account.mpi_ns = clock.duration_ns(totals.net_ticks + under_way);
  account.counted_ns = std::min(clock.duration_ns(unmeasured_ticks(process)), account.net_ns);
  const std::int64_t measured_ns = account.net_ns - account.counted_ns;
  account.threads_ns =
      sum(std::max(measured_ns, std::min(account.mpi_ns, account.net_ns)), clock.duration_ns(totals.other_ticks));
  account.recorded_ns = sum(account.net_ns, clock.duration_ns(totals.other_recorded_ticks));
  account.unreturned_ns = clock.duration_ns(under_way);
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

std::uint64_t last_evidence(const Process& process) {
  const ProcessRecord& r = process.record;
  std::uint64_t last = std::max({r.attach, r.init_leave, r.finalize_enter, r.finalize_leave, r.clock_last.ticks});
  for (const ChunkRef& chunk : process.events) last = std::max(last, chunk.header.ticks);
  return std::max(last, process.last_seen);
}

void assign_worlds(std::vector<Process*>& processes) {
  std::sort(processes.begin(), processes.end(), [](const Process* a, const Process* b) {
    return std::tuple(is_spawned(*a), a->record.realtime_start_ns, a->id) <
           std::tuple(is_spawned(*b), b->record.realtime_start_ns, b->id);
  });
  std::vector<KnownWorld> worlds;
  for (Process* process : processes) {
    const ProcessRecord& r = process->record;
    if (r.rank < 0) continue;  // never initialised MPI; stays in world 0
    const auto lacks_it = [&](const KnownWorld& world) {
      return world.size == r.size && world.spawned == is_spawned(*process) && !world.ranks.contains(r.rank);
    };
    auto world = std::find_if(worlds.begin(), worlds.end(), lacks_it);
    if (world == worlds.end()) world = worlds.insert(worlds.end(), KnownWorld{r.size, is_spawned(*process), {}});
    world->ranks.insert(r.rank);
    process->world = static_cast<int>(world - worlds.begin());
  }
  std::stable_sort(processes.begin(), processes.end(), [](const Process* a, const Process* b) {
    return std::tuple(a->world, a->record.rank) < std::tuple(b->world, b->record.rank);
  });
}

}  // namespace tare::reader
