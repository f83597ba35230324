#include "exporters/otf2/comm_locations.h"

#include <algorithm>
#include <map>

#include "reader/model/by_rank.h"

namespace tare::exporters::otf2 {

using namespace tare::reader;

CommLocations::CommLocations(const Run& run) {
  std::map<std::int32_t, std::map<std::int32_t, std::uint32_t>> groups;  // by world and rank
  std::map<std::int32_t, std::int32_t> sizes;
  for (std::uint32_t i = 0; i < run.processes().size(); ++i) {
    const Process& process = run.processes()[i];
    const std::int32_t rank = process.record.rank;
    if (!can_be_rank(process.world, rank)) continue;
    groups[process.world].emplace(rank, i);
    std::int32_t& size = sizes[process.world];
    size = std::max(size, rank + 1);
    if (process.record.size > size && process.record.size < rank_limit) size = process.record.size;
  }
  auto next_group = static_cast<std::uint32_t>(run.processes().size());
  for (const auto& [world, ranks] : groups) {
    worlds_.resize(static_cast<std::size_t>(world) + 1);
    worlds_.back() = {locations_.size(), sizes[world]};
    for (std::int32_t rank = 0; rank < sizes[world]; ++rank) {
      const auto found = ranks.find(rank);
      if (found == ranks.end()) absent_.push_back({world, rank});
      locations_.push_back(location(found == ranks.end() ? next_group++ : found->second, 0));
    }
  }
}

bool CommLocations::has_all(std::int32_t world, const std::optional<Members>& members) const {
  if (!members || world < 0 || static_cast<std::size_t>(world) >= worlds_.size()) return false;
  const std::int64_t size = worlds_[static_cast<std::size_t>(world)].size;
  std::int64_t count = 0;
  for (const format::MemberRun& run : members->runs()) {
    const std::int64_t last = run.first + std::int64_t{run.stride} * (std::int64_t{run.count} - 1);
    if (run.first < 0 || run.first >= size || last < 0 || last >= size) return false;
    count += run.count;
    if (count > size) return false;
  }
  return true;
}

std::optional<std::vector<std::uint64_t>> CommLocations::places(std::int32_t world, const Members& members) const {
  if (!has_all(world, members)) return std::nullopt;
  std::vector<std::uint64_t> places;
  const std::uint64_t first = worlds_[static_cast<std::size_t>(world)].first;
  for (const format::MemberRun& run : members.runs())
    for (std::uint32_t i = 0; i < run.count; ++i)
      places.push_back(first + static_cast<std::uint64_t>(run.first + std::int64_t{run.stride} * i));
  return places;
}

std::vector<bool> CommLocations::known_communicators(const Run& run) const {
  std::vector<bool> known;
  for (const CommunicatorInfo& of : run.communicators())
    known.push_back(of.key != 0 && has_all(of.world, of.members) &&
                    (!of.inter || has_all(of.world, of.remote_members)));
  return known;
}

}  // namespace tare::exporters::otf2
