// The records of calls of other sources than MPI: threads and teams of OpenMP.
//
// A parallel region forks and joins threads in the thread that encounters it. Each of its threads begins and ends its
// part of the team, which is a communicator of locations. The threads that run the numbers of teams of one size in a
// process are the same in most programs; where they change, there is another communicator.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "exporters/otf2/mpi_records.h"
#include "reader/events/event_stream.h"
#include "reader/model/region_parts.h"
#include "reader/run/run.h"

namespace tare::exporters::otf2 {

// What OTF2 has for a function of a source.
OTF2_RegionRole role_of_source(std::uint16_t function);
OTF2_Paradigm paradigm_of_source(const reader::Run& run, std::uint16_t function);

// The locations of the threads of a team, by number; OTF2_UNDEFINED_LOCATION: a thread that is not in the trace.
using ThreadTeam = std::vector<OTF2_LocationRef>;

class SourceRecords {
 public:
  // `run` must outlive it. Teams get the numbers of communicators from `first_team` on.
  SourceRecords(const reader::Run& run, OTF2_CommRef first_team);

  // Behind the record that the call is entered, and before the one that it is left. `location`: of its thread.
  void begin(const reader::EventRow& row, OTF2_LocationRef location, std::uint64_t time, Sink& sink);
  void end(const reader::EventRow& row, OTF2_LocationRef location, std::uint64_t time, Sink& sink);

  // In the order of their numbers.
  const std::vector<ThreadTeam>& teams() const { return teams_; }

 private:
  OTF2_CommRef team_of(const reader::EventRow& row, OTF2_LocationRef location);
  std::uint64_t argument(const reader::EventRow& row, const char* name) const;

  const reader::Run& run_;
  const OTF2_CommRef first_team_;
  const std::vector<reader::RegionRole> roles_;
  std::vector<ThreadTeam> teams_;
  std::map<std::pair<std::uint32_t, std::size_t>, std::vector<std::size_t>> teams_of_;  // by process and size
  std::map<OTF2_LocationRef, std::vector<OTF2_CommRef>> inside_;  // the teams that a location is in, innermost last
};

}  // namespace tare::exporters::otf2
