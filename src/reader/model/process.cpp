#include "reader/model/process.h"

#include <algorithm>

#include "format/function_meaning.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {

using namespace tare::format;

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

std::uint64_t begin_ticks(const Process& process) {
  const ProcessRecord& r = process.record;
  if (r.abi != Abi::none || process.clock.rate() <= 0) return r.attach;
  const auto before = static_cast<std::uint64_t>(1000.0 * r.before_attach_us / process.clock.rate());
  return r.attach - std::min(before, r.attach);
}

std::uint64_t life_ticks(const Process& process) {
  const std::uint64_t begin = begin_ticks(process);
  return process.end > begin ? process.end - begin : 0;
}

std::uint64_t net_ticks(const Process& process) {
  const ProcessRecord& r = process.record;
  if (r.init_enter != 0 && r.init_leave == 0) return 0;
  const std::uint64_t from = r.init_leave != 0 ? r.init_leave : begin_ticks(process);
  const std::uint64_t to = r.finalize_enter != 0 ? r.finalize_enter : process.end;
  return to > from ? to - from : 0;
}

std::vector<bool> outside_net_time(const FunctionNames& names) {
  std::vector<bool> outside;
  for (unsigned number = 0; number < names.names().size(); ++number)
    outside.push_back(meaning_of(number).bounds_net_time() || !names.is_of_mpi(static_cast<std::uint16_t>(number)));
  return outside;
}

bool counts_some_of_the_time(const Process& process) {
  const ProcessRecord& r = process.record;
  return r.counted_ticks != 0 || r.counted_since != 0 || !process.spells.empty();
}

void add_profile(Totals& totals, const Process& process, const Profile& profile, const std::vector<bool>& outside_net) {
  const bool counts = counts_some_of_the_time(process);
  for (const ProfileRow& row : profile.rows) {
    totals.calls += row.calls;
    totals.estimated += row.estimated;
    const std::uint16_t function = FunctionNames::lookup(*process.functions, row.function);
    if (meaning_of(function).bounds_net_time()) continue;
    if (!outside_net[function])
      totals.net_ticks += row.ticks;
    else
      totals.beyond_net |= row.calls != 0;
    const std::uint64_t estimated = std::min(row.calls, row.estimated);
    totals.weighed.calls[static_cast<unsigned>(meaning_of(function).kind)] += row.calls - estimated;
    totals.weighed.calls[untimed] += estimated;
    if (!counts || outside_net[function]) continue;
    MeasuredAndCounted& of = totals.by_function[function];
    of.measured += row.calls;
    of.ticks += row.ticks;
  }
  for (const CountedCalls& counted : profile.counted) {
    totals.counted += counted.calls;
    const std::uint16_t function = FunctionNames::lookup(*process.functions, counted.function);
    if (counts && !outside_net[function] && meaning_of(function).kind != CallClass::lookup)
      totals.by_function[function].counted += counted.calls;
  }
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

namespace {

// Whether the thread of a profile is in a call of MPI within the net time: the first one of a thread is in no row yet.
bool is_in_net_call(const Process& process, const Profile& profile) {
  return std::any_of(process.calls.begin(), process.calls.end(), [&](const ThreadCall& call) {
    return call.thread == profile.summary.number && is_in_mpi(call) && call.enter >= process.record.init_leave;
  });
}

}  // namespace

bool is_of_rank(const Process& process, const Profile& profile, const FunctionNames& names) {
  if (process.record.rank < 0) return profile.summary.number == 0;
  if (is_in_net_call(process, profile)) return true;
  return std::any_of(profile.rows.begin(), profile.rows.end(), [&](const ProfileRow& row) {
    return row.calls != 0 && names.is_of_mpi(FunctionNames::lookup(*process.functions, row.function));
  });
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

void add_thread(TimeOfThreads& to, const Process& process, const Profile& profile, const std::vector<bool>& outside_net,
                std::int64_t sampled_ns) {
  std::uint64_t ticks = 0;
  for (const PhaseEntry& phase : profile.phases) ticks += phase.ticks;
  const LocationSummary& summary = profile.summary;
  if (summary.in_use != 0 && process.end > summary.phase_since) ticks += process.end - summary.phase_since;
  bool calls_mpi = is_in_net_call(process, profile), calls = calls_mpi, beyond_net = sampled_ns != 0;
  for (const ProfileRow& row : profile.rows) {
    if (row.calls == 0) continue;
    const std::uint16_t function = FunctionNames::lookup(*process.functions, row.function);
    calls = true;
    calls_mpi |= !outside_net[function];
    beyond_net |= outside_net[function] && !meaning_of(function).bounds_net_time();
  }
  const std::uint64_t within_net = std::min(ticks, net_ticks(process));
  if (calls_mpi) to.mpi_ticks += within_net;
  if (beyond_net)
    to.recorded_ticks += std::min(ticks, life_ticks(process));
  else if (calls || summary.api_events != 0)
    to.recorded_ticks += within_net;
  to.sampled_ns = sum(to.sampled_ns, sampled_ns);
}

void add_other_threads(Totals& totals, const Process& process, const TimeOfThreads& threads,
                       const SchedulingSums* scheduling) {
  totals.other_ticks += threads.mpi_ticks;
  std::int64_t ns = process.clock.duration_ns(threads.recorded_ticks);
  if (!threads.is_of_rank) {
    std::uint64_t processor_ns = static_cast<std::uint64_t>(threads.sampled_ns);
    if (scheduling != nullptr && scheduling->observed_ns > scheduling->all.ns)
      processor_ns = std::max(processor_ns, scheduling->observed_ns - scheduling->all.ns);
    if (processor_ns != 0 && processor_ns < static_cast<std::uint64_t>(ns))
      ns = static_cast<std::int64_t>(processor_ns);
  }
  totals.other_recorded_ns = sum(totals.other_recorded_ns, ns);
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
  to.other_recorded_ns = sum(to.other_recorded_ns, from.other_recorded_ns);
  to.beyond_net |= from.beyond_net;
  to.records += from.records;
  to.api_events += from.api_events;
  to.stored_bytes += from.stored_bytes;
  add_scheduling(to, from.scheduling);
  to.stack_samples += from.stack_samples;
  to.stack_ticks += from.stack_ticks;
  for (const auto& [function, from_calls] : from.by_function) {
    MeasuredAndCounted& calls = to.by_function[function];
    calls.measured += from_calls.measured;
    calls.counted += from_calls.counted;
    calls.ticks += from_calls.ticks;
  }
}

std::uint64_t last_evidence(const Process& process) {
  const ProcessRecord& r = process.record;
  std::uint64_t last = std::max({r.attach, r.init_leave, r.finalize_enter, r.finalize_leave, r.clock_last.ticks});
  for (const ChunkRef& chunk : process.events) last = std::max(last, chunk.header.ticks);
  return std::max(last, process.last_seen);
}

}  // namespace tare::reader
