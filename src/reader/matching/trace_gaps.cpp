#include "reader/matching/trace_gaps.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

// Tolerance: the times of losses and of spells are rounded separately.
constexpr std::int64_t rounding_ns = 2;

// Epochs of single ranks have numbers from here on. Other epochs have the numbers of spells, which are lower.
constexpr std::uint32_t first_own_epoch = 0x80000000U;

// The traced spells of a process, by number, in which it is not known which messages some requests take. The requests
// were under way at the begin, or they completed in it or in a later spell, but their start was not recorded. Such a
// start lies in the last spell before that only counts, or after the last cut.
std::set<std::uint32_t> spells_with_unknown_requests(const Process& process) {
  std::set<std::uint32_t> unknown;
  std::vector<std::uint32_t> traced;  // since then
  for (const auto& [number, spell] : process.spells) {
    if (!spell.measured) traced.clear();
    if (spell.traced) traced.push_back(number);
    if (spell.traced && spell.has_requests) unknown.insert(number);
    if (spell.completes_unknown) unknown.insert(traced.begin(), traced.end());
    if (spell.cut) traced.clear();
  }
  return unknown;
}

}  // namespace

TraceGaps::TraceGaps(Run& run) : run_(run), communicators_(run.communicators().size()) {
  std::uint32_t own_epoch = first_own_epoch;
  for (const Process& process : run.processes()) {
    const std::set<std::uint32_t> unknown = spells_with_unknown_requests(process);
    for (const auto& [number, spell] : process.spells)
      if (spell.traced && !spell.timed)
        epochs_[{process.world, process.record.rank}][process.begin_of(spell)] =
            unknown.contains(number) ? own_epoch++ : number;
  }
}

void TraceGaps::add(std::int32_t world, std::int32_t rank, Cause cause) {
  if (std::exchange(ranks_.at(world, rank), true)) return;
  const std::string name = "rank " + std::to_string(rank);
  lines_.push_back(cause == Cause::callbacks
                       ? name + " has communicated in a callback: its messages are not matched from then on"
                       : "the trace of " + name + " has gaps: its messages are not matched after its first gap");
  for (std::size_t i = 0; i < communicators_.size(); ++i) {
    const CommunicatorInfo& of = run_.communicators()[i];
    if (of.world != world || communicators_[i]) continue;
    communicators_[i] = !of.members || of.members->has(rank) || (of.remote_members && of.remote_members->has(rank));
  }
}

void TraceGaps::add_chosen(std::int32_t world, std::int32_t rank) { chosen_.at(world, rank) = true; }

std::uint32_t TraceGaps::epoch_behind(const EventRow& loss) const {
  const auto of_rank = epochs_.find({loss.world, loss.rank});
  if (of_rank == epochs_.end()) return 0;
  const std::int64_t end_ns = sum(loss.start_ns, loss.duration_ns);
  const auto epoch = of_rank->second.lower_bound(difference(end_ns, rounding_ns));
  return epoch != of_rank->second.end() && epoch->first <= sum(end_ns, rounding_ns) ? epoch->second : 0;
}

}  // namespace tare::reader
