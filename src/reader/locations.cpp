#include "reader/locations.h"

#include <map>

#include "reader/parallel.h"

namespace tare::reader {

namespace {

std::vector<Location> locations_of(const Process& process, const std::vector<bool>& outside, ProfileReader& reader) {
  std::map<std::uint32_t, Location> by_block;
  for (const ChunkRef& chunk : process.events)
    by_block[chunk.header.block & ~format::tared_block].thread = chunk.header.location;
  reader.read(
      process.profiles,
      [&](std::uint32_t block, const Profile& profile) {
        by_block[block].thread = profile.summary.number;
        add_profile(by_block[block].totals, process, profile, outside);
      },
      [](const ChunkRef&, const std::string&) {});
  std::vector<Location> locations;
  for (auto& [block, location] : by_block) {
    location.block = block;
    add_trace(location.totals, process, block);
    locations.push_back(location);
  }
  return locations;
}

}  // namespace

std::vector<Location> locations_of(const Run& run) {
  const std::vector<Process>& processes = run.processes();
  const std::vector<bool> outside = outside_net_time(run.functions());
  std::vector<std::vector<Location>> found(processes.size());
  std::vector<ProfileReader> readers(threads_for(processes.size(), processes_a_thread));
  parallel(processes.size(), static_cast<unsigned>(readers.size()), [&](unsigned thread, std::size_t i) {
    if (i % processes_a_release == 0) run.files().release();
    found[i] = locations_of(processes[i], outside, readers[thread]);
  });
  std::vector<Location> locations;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (Location& location : found[i]) {
      location.process = i;
      locations.push_back(location);
    }
  }
  return locations;
}

}  // namespace tare::reader
