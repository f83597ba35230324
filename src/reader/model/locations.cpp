#include "reader/model/locations.h"

#include <algorithm>
#include <iterator>

namespace tare::reader {
namespace {

using format::ChunkHeader;

// Whether the records of a chunk on disk are still in the event buffer, too. This happens if the buffer was drained
// while the run was opened, or if the process was killed before it could release the records.
bool is_buffered(const Process& process, const ChunkHeader& chunk) {
  const auto buffer = process.buffered.find(chunk.block);
  return buffer != process.buffered.end() && chunk.sequence >= buffer->second.sequence;
}

// Of a thread whose time is not that of the rank.
format::SchedulingSums without_times(const format::SchedulingSums& sums) {
  format::SchedulingSums rest{};
  rest.readings = sums.readings;
  rest.cost_ticks = sums.cost_ticks;
  std::copy(std::begin(sums.allowed), std::end(sums.allowed), rest.allowed);
  return rest;
}

}  // namespace

LocationsOf::LocationsOf(const Process& process, const FunctionNames& names, const std::vector<bool>& outside_net,
                         const std::vector<RegionRole>& roles)
    : process_(process),
      names_(names),
      outside_net_(outside_net),
      roles_(roles),
      stacks_(process.stacks.is_there() ? read_stack_samples(process.stacks) : StackSamples{}) {
  for (const format::SampledStack& stack : stacks_.stacks) sampled_.insert(stack.thread);
  // If a profile is lost, the events alone show that the location existed.
  for (const ChunkRef& chunk : process.events)
    by_block_[chunk.header.block & ~format::tared_block].thread = chunk.header.location;
}

void LocationsOf::add(std::uint32_t block, const Profile& profile) {
  Location& location = by_block_[block];
  location.thread = profile.summary.number;
  if (is_of_rank(process_, profile, names_)) of_rank_.insert(block);
  add_profile(location.totals, process_, profile, outside_net_);
  add_region_parts(location.regions, *process_.functions, roles_, profile);
  if (block != 0)
    add_other_threads(location.totals, process_, profile, outside_net_, sampled_.contains(profile.summary.number));
}

void LocationsOf::add_trace() {
  for (const ChunkRef& chunk : process_.events) {
    Totals& totals = by_block_[chunk.header.block & ~format::tared_block].totals;
    totals.stored_bytes += sizeof(ChunkHeader) + chunk.header.stored_bytes;
    if (!format::is_of_tared(chunk.header.block) && !is_buffered(process_, chunk.header))
      totals.records += chunk.header.records;
  }
  for (const auto& [block, buffered] : process_.buffered) by_block_[block].totals.records += buffered.records;
  // Each drain by the thread is recorded, too, and is no event of the program.
  for (auto& [block, location] : by_block_)
    location.totals.records -= std::min(location.totals.records, location.totals.flushes);
}

std::vector<Location> LocationsOf::take(std::size_t index) {
  add_trace();
  for (const Scheduling& of : read_scheduling(process_.scheduling))
    if (const auto at = by_block_.find(of.sums.block); at != by_block_.end())
      add_scheduling(at->second.totals, of_rank_.contains(of.sums.block) ? of.sums : without_times(of.sums));
  if (!by_block_.empty()) {  // those of all threads, with the first one
    by_block_.begin()->second.totals.stack_samples = stacks_.head.samples;
    by_block_.begin()->second.totals.stack_ticks = stacks_.head.ticks;
  }
  std::vector<Location> locations;
  locations.reserve(by_block_.size());
  for (auto& [block, location] : by_block_) {
    location.process = index;
    location.block = block;
    locations.push_back(location);
  }
  return locations;
}

}  // namespace tare::reader
