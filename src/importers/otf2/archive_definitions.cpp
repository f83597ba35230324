#include "importers/otf2/archive_definitions.h"

#include <algorithm>
#include <utility>

namespace tare::importers::otf2 {
namespace {

ArchiveDefinitions& of(void* data) { return *static_cast<ArchiveDefinitions*>(data); }
constexpr OTF2_CallbackCode go_on = OTF2_CALLBACK_SUCCESS;

void read_clock_and_strings(OTF2_GlobalDefReaderCallbacks* to) {
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
      to, [](void* data, std::uint64_t resolution, std::uint64_t offset, std::uint64_t, std::uint64_t realtime) {
        of(data).resolution = resolution;
        of(data).offset = offset;
        of(data).realtime_ns = realtime;
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(to, [](void* data, OTF2_StringRef self, const char* text) {
    of(data).strings[self] = text;
    return go_on;
  });
}

void read_communicators(OTF2_GlobalDefReaderCallbacks* to) {
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
      to, [](void* data, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
             OTF2_GroupFlag, std::uint32_t count, const std::uint64_t* members) {
        // Some archives have it beside a group of the same number.
        if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && paradigm == OTF2_PARADIGM_MPI)
          of(data).comm_locations.assign(members, members + count);
        else
          of(data).groups[self] = {type == OTF2_GROUP_TYPE_COMM_SELF, {members, members + count}};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(
      to, [](void* data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef, OTF2_CommFlag) {
        if (of(data).communicators.emplace(self, Communicator{name, group, 0, false}).second)
          of(data).communicator_order.push_back(self);
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(
      to, [](void* data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef a, OTF2_GroupRef b, OTF2_CommRef,
             OTF2_CommFlag) {
        if (of(data).communicators.emplace(self, Communicator{name, a, b, true}).second)
          of(data).communicator_order.push_back(self);
        return go_on;
      });
}

void read_locations(OTF2_GlobalDefReaderCallbacks* to) {
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
      to, [](void* data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType, std::uint64_t,
             OTF2_LocationGroupRef group) {
        of(data).locations.push_back({self, name, group});
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
      to, [](void* data, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType,
             OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef) {
        of(data).location_groups[self] = {name, node};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(
      to, [](void* data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_SystemTreeNodeRef) {
        of(data).nodes[self] = name;
        return go_on;
      });
}

void read_source_places(OTF2_GlobalDefReaderCallbacks* to) {
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
      to, [](void* data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef description,
             OTF2_RegionRole, OTF2_Paradigm, OTF2_RegionFlag flags, OTF2_StringRef file, std::uint32_t begin,
             std::uint32_t) {
        of(data).regions[self] = {name, file, begin == OTF2_UNDEFINED_UINT32 ? 0 : begin, flags, description};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(
      to, [](void* data, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type) {
        of(data).attributes[self] = name;
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(
      to, [](void* data, OTF2_SourceCodeLocationRef self, OTF2_StringRef file, std::uint32_t line) {
        of(data).sources[self] = {file, line};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(
      to, [](void* data, OTF2_CallingContextRef self, OTF2_RegionRef region, OTF2_SourceCodeLocationRef source,
             OTF2_CallingContextRef parent) {
        of(data).contexts[self] = {region, source, parent};
        return go_on;
      });
}

void read_metrics(OTF2_GlobalDefReaderCallbacks* to) {
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(
      to, [](void* data, OTF2_MetricMemberRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_MetricType,
             OTF2_MetricMode, OTF2_Type, OTF2_Base, std::int64_t, OTF2_StringRef unit) {
        of(data).metric_members[self] = {name, unit};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(
      to, [](void* data, OTF2_MetricRef self, std::uint8_t count, const OTF2_MetricMemberRef* members,
             OTF2_MetricOccurrence, OTF2_RecorderKind) {
        of(data).metrics[self] = {members, members + count};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(
      to, [](void* data, OTF2_MetricRef self, OTF2_MetricRef metric_class, OTF2_LocationRef, OTF2_MetricScope,
             std::uint64_t) {
        const auto found = of(data).metrics.find(metric_class);
        if (found != of(data).metrics.end()) of(data).metrics[self] = std::vector(found->second);
        return go_on;
      });
}

}  // namespace

OTF2_GlobalDefReaderCallbacks* ArchiveDefinitions::make_callbacks() {
  OTF2_GlobalDefReaderCallbacks* to = OTF2_GlobalDefReaderCallbacks_New();
  read_clock_and_strings(to);
  read_communicators(to);
  read_locations(to);
  read_source_places(to);
  read_metrics(to);
  return to;
}

const std::string& ArchiveDefinitions::text(OTF2_StringRef of) const {
  static const std::string nothing;
  const auto found = strings.find(of);
  return found == strings.end() ? nothing : found->second;
}

std::uint64_t ArchiveDefinitions::ticks(OTF2_TimeStamp time) const {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  const std::uint64_t since = time > offset ? time - offset : 0;
  __extension__ using Wide = unsigned __int128;
  const Wide ns = Wide{since} * 1'000'000'000 / resolution;
  return first_ticks + static_cast<std::uint64_t>(std::min<Wide>(ns, most));
}

Place ArchiveDefinitions::place(OTF2_RegionRef region) const {
  const auto found = regions.find(region);
  if (found == regions.end()) return {};
  return {text(found->second.name), text(found->second.file), found->second.line};
}

std::vector<Place> ArchiveDefinitions::path(OTF2_CallingContextRef of) const {
  std::vector<Place> path;
  for (auto found = contexts.find(of); found != contexts.end() && path.size() < format::max_frames;
       found = contexts.find(found->second.parent)) {
    Place at = place(found->second.region);
    if (const auto source = sources.find(found->second.source); source != sources.end()) {
      at.file = text(source->second.first);
      at.line = source->second.second;
    }
    path.push_back(std::move(at));
  }
  return path;
}

}  // namespace tare::importers::otf2
