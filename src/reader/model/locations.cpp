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
  for (const format::SampledStack& stack : stacks_.stacks)
    if (std::int64_t& ns = sampled_ns_[stack.thread]; stack.ns < INT64_MAX)
      ns = sum(ns, static_cast<std::int64_t>(stack.ns));
  // If a profile is lost, the events alone show that the location existed.
  for (const ChunkRef& chunk : process.events)
    by_block_[chunk.header.block & ~format::tared_block].thread = chunk.header.location;
}

void LocationsOf::add(std::uint32_t block, const Profile& profile) {
  Location& location = by_block_[block];
  location.thread = profile.summary.number;
  TimeOfThreads& times = times_[block];
  times.is_of_rank |= is_of_rank(process_, profile, names_);
  const auto sampled = sampled_ns_.find(profile.summary.number);
  add_thread(times, process_, profile, outside_net_, sampled == sampled_ns_.end() ? 0 : sampled->second);
  add_profile(location.totals, process_, profile, outside_net_);
  add_region_parts(location.regions, *process_.functions, roles_, profile);
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

void LocationsOf::add_readings() {
  std::map<std::uint32_t, format::SchedulingSums> readings;
  for (const Scheduling& of : read_scheduling(process_.scheduling)) readings.emplace(of.sums.block, of.sums);
  const auto first = std::find_if(times_.begin(), times_.end(), [](const auto& of) { return of.second.is_of_rank; });
  const std::uint32_t of_first = first != times_.end() ? first->first : 0;
  for (auto& [block, location] : by_block_) {
    const TimeOfThreads& times = times_[block];
    const auto read = readings.find(block);
    const format::SchedulingSums* sums = read == readings.end() ? nullptr : &read->second;
    if (sums != nullptr) add_scheduling(location.totals, times.is_of_rank ? *sums : without_times(*sums));
    if (block != of_first) add_other_threads(location.totals, process_, times, sums);
  }
}

std::vector<Location> LocationsOf::take(std::size_t index) {
  add_trace();
  add_readings();
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
