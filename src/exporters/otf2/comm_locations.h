// The ranks of a run as OTF2 counts them: the members of its communicators.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/model/communicator_info.h"
#include "reader/run/run.h"

namespace tare::exporters::otf2 {

// A rank of a world that is not in the trace. Communicators have it as a member.
struct AbsentRank {
  std::int32_t world, rank;
};

// The first location of each rank, in order of world and rank. Location groups have the numbers of processes, followed
// by those of absent ranks. The number of a location is slot << 32 | group.
class CommLocations {
 public:
  explicit CommLocations(const reader::Run& run);

  static OTF2_LocationRef location(std::uint32_t group, std::uint32_t slot) {
    return std::uint64_t{slot} << 32 | group;
  }
  const std::vector<std::uint64_t>& locations() const { return locations_; }
  const std::vector<AbsentRank>& absent() const { return absent_; }
  // Indices in locations(), in the order of the ranks of the group; nothing if a member is of another world.
  std::optional<std::vector<std::uint64_t>> places(std::int32_t world, const reader::Members& members) const;
  // By communicator of the run: whether all is known that OTF2 needs.
  std::vector<bool> known_communicators(const reader::Run& run) const;

 private:
  struct World {
    std::uint64_t first = 0;  // place of rank 0
    std::int32_t size = 0;
  };
  bool has_all(std::int32_t world, const std::optional<reader::Members>& members) const;

  std::vector<World> worlds_;
  std::vector<std::uint64_t> locations_;
  std::vector<AbsentRank> absent_;
};

}  // namespace tare::exporters::otf2
