#include "exporters/otf2/source_records.h"

#include <algorithm>
#include <string>

#include "format/functions.h"

namespace tare::exporters::otf2 {
namespace {

using namespace tare::reader;
using format::Function;

// Teams of more threads are made up.
constexpr std::uint64_t max_threads = 1U << 16;

}  // namespace

OTF2_RegionRole role_of_source(std::uint16_t function) {
  switch (static_cast<Function>(function)) {
#define TARE_SOURCE_ROLE(name, role) \
  case Function::name:               \
    return OTF2_REGION_ROLE_##role;
#include "source_roles.inc"
#undef TARE_SOURCE_ROLE
    default:
      return role_of(function);
  }
}

OTF2_Paradigm paradigm_of_source(const Run& run, std::uint16_t function) {
  return run.functions().source(function) == "openmp" ? OTF2_PARADIGM_OPENMP : OTF2_PARADIGM_UNKNOWN;
}

SourceRecords::SourceRecords(const Run& run, OTF2_CommRef first_team)
    : run_(run), first_team_(first_team), roles_(region_roles(run.functions())) {}

std::uint64_t SourceRecords::argument(const EventRow& row, const char* name) const {
  return EventStream::argument(run_, row, name).value_or(0);
}

void SourceRecords::begin(const EventRow& row, OTF2_LocationRef location, std::uint64_t time, Sink& sink) {
  if (roles_[row.function] == RegionRole::region) {
    const auto threads = static_cast<std::uint32_t>(argument(row, "threads"));
    sink.write(OTF2_EvtWriter_ThreadFork, time, OTF2_Paradigm{OTF2_PARADIGM_OPENMP}, threads);
  } else if (roles_[row.function] == RegionRole::part) {
    const OTF2_CommRef team = team_of(row, location);
    inside_[location].push_back(team);
    if (team != OTF2_UNDEFINED_COMM) sink.write(OTF2_EvtWriter_ThreadTeamBegin, time, team);
  }
}

void SourceRecords::end(const EventRow& row, OTF2_LocationRef location, std::uint64_t time, Sink& sink) {
  if (roles_[row.function] == RegionRole::region) {
    sink.write(OTF2_EvtWriter_ThreadJoin, time, OTF2_Paradigm{OTF2_PARADIGM_OPENMP});
  } else if (roles_[row.function] == RegionRole::part) {
    std::vector<OTF2_CommRef>& inside = inside_[location];
    if (inside.empty()) return;
    if (inside.back() != OTF2_UNDEFINED_COMM) sink.write(OTF2_EvtWriter_ThreadTeamEnd, time, inside.back());
    inside.pop_back();
  }
}

// The team of that many threads in which the location has this number, or nobody has it yet.
OTF2_CommRef SourceRecords::team_of(const EventRow& row, OTF2_LocationRef location) {
  const std::uint64_t threads = argument(row, "threads"), number = argument(row, "number");
  if (threads == 0 || threads > max_threads || number >= threads) return OTF2_UNDEFINED_COMM;
  std::vector<std::size_t>& candidates = teams_of_[{row.process, threads}];
  auto found = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t candidate) {
    const OTF2_LocationRef member = teams_[candidate][number];
    return member == location || member == OTF2_UNDEFINED_LOCATION;
  });
  if (found == candidates.end()) {
    found = candidates.insert(found, teams_.size());
    teams_.emplace_back(threads, OTF2_UNDEFINED_LOCATION);
  }
  teams_[*found][number] = location;
  return first_team_ + static_cast<OTF2_CommRef>(*found);
}

}  // namespace tare::exporters::otf2
