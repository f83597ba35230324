#include "reader/profile/profile_tables.h"

#include "reader/time_arithmetic.h"

#include <algorithm>
#include <tuple>

namespace tare::reader {
namespace {

using namespace tare::format;

// Ticks that the thread has spent in phase `number` since it last entered or returned to it; 0 if it is not in the
// phase. The entry of the phase does not contain them yet.
std::uint64_t ticks_going_on(const Process& process, const Profile& profile, std::size_t number) {
  const LocationSummary& summary = profile.summary;
  if (summary.in_use == 0 || summary.phase != number || process.end <= summary.phase_since) return 0;
  return process.end - summary.phase_since;
}

// The entry for the time outside of all phases. Its calls are all calls of MPI in the profile minus those in phases.
PhaseEntry outside_of(const FunctionNames& functions, const Process& process, const Profile& profile) {
  PhaseEntry outside = profile.phases[outside_phases];
  for (const ProfileRow& row : profile.rows) {
    if (!functions.is_of_mpi(FunctionNames::lookup(*process.functions, row.function))) continue;
    outside.calls += row.calls;
    outside.mpi_ticks += row.ticks;
    outside.bytes += row.bytes;
    if ((outside.flags & bytes_as_in_rows) == 0) outside.bytes += row.received;
  }
  const auto without = [](std::uint64_t all, std::uint64_t part) { return part < all ? all - part : 0; };
  for (std::size_t number = 0; number < profile.phases.size(); ++number) {
    if (number == outside_phases) continue;
    const PhaseEntry& phase = profile.phases[number];
    outside.calls = without(outside.calls, phase.calls);
    outside.mpi_ticks = without(outside.mpi_ticks, phase.mpi_ticks);
    outside.bytes = without(outside.bytes, phase.bytes);
  }
  return outside;
}

}  // namespace

void TablesQuery::prepare() {
  for (Wanted* wanted : {&worlds, &ranks, &communicators}) sort(*wanted);
}

bool TablesQuery::wants(const Process& process) const {
  return holds(worlds, process.world) && holds(ranks, process.record.rank);
}

void add_peers(std::vector<PeerSum>& sums, const TablesQuery& query, const std::vector<CommunicatorInfo>& communicators,
               const Process& process, const Profile& profile) {
  for (const PeerEntry& entry : profile.peers) {
    if (entry.sent_messages == 0 && entry.received_messages == 0) continue;
    const std::int32_t communicator = process.communicators.find(entry.communicator);
    if (!holds(query.communicators, communicator)) continue;
    PeerSum& sum = sums.emplace_back();
    sum.world = process.world;
    if (query.rank) sum.rank = process.record.rank;
    if (query.communicator) sum.communicator = communicator;
    if (entry.peer >= 0 && communicator >= 0)
      sum.peer = communicators[static_cast<std::size_t>(communicator)].world_rank(process.record.rank, entry.peer);
    sum.sent_messages = entry.sent_messages;
    sum.sent_bytes = entry.sent_bytes;
    sum.received_messages = entry.received_messages;
    sum.received_bytes = entry.received_bytes;
    sum.ranks = 1;
    sum.process = process.record.process;
  }
}

std::vector<PeerSum> merged(std::vector<PeerSum> sums) {
  const auto key = [](const PeerSum& sum) { return std::tie(sum.world, sum.rank, sum.peer, sum.communicator); };
  std::sort(sums.begin(), sums.end(), [&](const PeerSum& a, const PeerSum& b) {
    return std::tuple_cat(key(a), std::tie(a.process)) < std::tuple_cat(key(b), std::tie(b.process));
  });
  std::vector<PeerSum> result;
  for (const PeerSum& sum : sums) {
    if (result.empty() || key(result.back()) != key(sum)) {
      result.push_back(sum);
      continue;
    }
    PeerSum& to = result.back();
    to.sent_messages += sum.sent_messages;
    to.sent_bytes += sum.sent_bytes;
    to.received_messages += sum.received_messages;
    to.received_bytes += sum.received_bytes;
    to.ranks += sum.process == to.process ? 0 : 1;
    to.process = sum.process;
  }
  return result;
}

void add_phases(std::vector<PhaseSum>& sums, const FunctionNames& functions, const Process& process,
                const Profile& profile) {
  for (std::size_t number = 0; number < profile.phases.size(); ++number) {
    if (number == outside_phases && !is_of_rank(process, profile, functions)) continue;
    const PhaseEntry entry =
        number == outside_phases ? outside_of(functions, process, profile) : profile.phases[number];
    const std::uint64_t ticks = entry.ticks + ticks_going_on(process, profile, number);
    if (ticks == 0 && entry.calls == 0 && entry.entries == 0) continue;
    PhaseSum& sum = sums.emplace_back();
    sum.world = process.world;
    sum.rank = process.record.rank;
    sum.outside = number == outside_phases;
    sum.other = entry.type == other_phase;
    if (!sum.outside && !sum.other) sum.type = process.event_types.find(entry.type);
    sum.entries = entry.entries;
    sum.calls = entry.calls;
    sum.bytes = entry.bytes;
    sum.time_ns = process.clock.duration_ns(ticks);
    sum.mpi_ns = process.clock.duration_ns(entry.mpi_ticks);
  }
}

namespace {

void add_up(PhaseSum& to, const PhaseSum& sum) {
  to.entries += sum.entries;
  to.calls += sum.calls;
  to.bytes += sum.bytes;
  to.time_ns = reader::sum(to.time_ns, sum.time_ns);
  to.mpi_ns = reader::sum(to.mpi_ns, sum.mpi_ns);
}

}  // namespace

std::vector<PhaseSum> merged(std::vector<PhaseSum> sums, bool rank) {
  // First adds up the threads of each rank, then the ranks.
  const auto phase = [](const PhaseSum& sum) { return std::tie(sum.world, sum.outside, sum.other, sum.type); };
  std::sort(sums.begin(), sums.end(), [&](const PhaseSum& a, const PhaseSum& b) {
    return std::tuple_cat(phase(a), std::tie(a.rank)) < std::tuple_cat(phase(b), std::tie(b.rank));
  });
  std::vector<PhaseSum> of_ranks;
  for (const PhaseSum& sum : sums) {
    if (of_ranks.empty() || phase(of_ranks.back()) != phase(sum) || of_ranks.back().rank != sum.rank)
      of_ranks.push_back(sum);
    else
      add_up(of_ranks.back(), sum);
  }
  for (PhaseSum& sum : of_ranks) {
    sum.ranks = 1;
    sum.rank_min_ns = sum.rank_max_ns = sum.time_ns;
    sum.longest = sum.rank;
  }
  if (rank) return of_ranks;
  std::vector<PhaseSum> result;
  for (const PhaseSum& sum : of_ranks) {
    if (result.empty() || phase(result.back()) != phase(sum)) {
      result.push_back(sum);
      result.back().rank = -1;
      continue;
    }
    PhaseSum& to = result.back();
    add_up(to, sum);
    ++to.ranks;
    to.rank_min_ns = std::min(to.rank_min_ns, sum.time_ns);
    if (sum.time_ns > to.rank_max_ns) {
      to.rank_max_ns = sum.time_ns;
      to.longest = sum.rank;
    }
  }
  return result;
}

std::vector<std::string> full_tables(const std::vector<Process>& processes, const std::vector<Totals>& totals) {
  struct Kind {
    std::uint32_t flag;
    const char* what;
    const char* rest;
  };
  constexpr Kind kinds[] = {
      {full_rows, "profile table", "calls of further call sites are in one row a function, without a call site"},
      {full_peers, "table of peers", "messages with further ranks are in one row, without a peer"},
      {merged_communicators, "part of the profile table that is for communicators",
       "calls on further communicators are in rows without a communicator"},
      {full_communicators, "part of the definition log that is for communicators",
       "further communicators have no name, and calls on them are not matched with those of other ranks"},
      {full_phases, "table of phases", "further phases are together in the phase \"other\""},
  };
  const auto of_processes = [](std::ptrdiff_t count) {
    return " of " + std::to_string(count) + (count == 1 ? " process" : " processes");
  };
  std::vector<std::string> lines;
  for (const Kind& kind : kinds) {
    const auto full = std::count_if(totals.begin(), totals.end(),
                                    [&](const Totals& of_process) { return (of_process.full & kind.flag) != 0; });
    if (full == 0) continue;
    lines.push_back(std::string("the ") + kind.what + of_processes(full) + " was full: " + kind.rest);
  }
  // The number of requests is not shown: a poll that finds no room counts its requests each time.
  const auto without_room = std::count_if(processes.begin(), processes.end(), [](const Process& process) {
    return process.record.untracked_requests != 0;
  });
  if (without_room != 0)
    lines.push_back("there was no room to follow all requests" + of_processes(without_room) +
                    ": the waiting for some, and bytes that they received, are missing");
  return lines;
}

}  // namespace tare::reader
