// The global definitions of an OTF2 archive that an import needs, by number. Any of them may be missing, because
// archives of other tools are not always complete.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/definition.h"
#include "importers/run_file.h"

namespace tare::importers::otf2 {

struct Region {
  OTF2_StringRef name = 0, file = 0;
  std::uint32_t line = 0;
  OTF2_RegionFlag flags = OTF2_REGION_FLAG_NONE;
  OTF2_StringRef description = 0;
};
struct Communicator {
  OTF2_StringRef name = 0;
  OTF2_GroupRef group = 0, remote_group = 0;
  bool inter = false;
};
struct Location {
  OTF2_LocationRef number = 0;
  OTF2_StringRef name = 0;
  OTF2_LocationGroupRef group = 0;
};
struct LocationGroup {
  OTF2_StringRef name = 0;
  OTF2_SystemTreeNodeRef node = 0;
};
struct CallingContext {
  OTF2_RegionRef region = 0;
  OTF2_SourceCodeLocationRef source = 0;
  OTF2_CallingContextRef parent = 0;
};
struct Group {
  bool is_self = false;  // each process alone
  std::vector<std::uint64_t> members;
};
struct MetricMember {
  OTF2_StringRef name = 0, unit = 0;
};

class ArchiveDefinitions {
 public:
  // Callbacks that fill it. The caller deletes them.
  static OTF2_GlobalDefReaderCallbacks* make_callbacks();

  const std::string& text(OTF2_StringRef of) const;
  std::uint64_t ticks(OTF2_TimeStamp time) const;  // nanoseconds behind first_ticks
  // The innermost frame first.
  std::vector<Place> path(OTF2_CallingContextRef of) const;
  Place place(OTF2_RegionRef region) const;

  std::uint64_t resolution = 1'000'000'000, offset = 0, realtime_ns = OTF2_UNDEFINED_TIMESTAMP;
  std::unordered_map<OTF2_StringRef, std::string> strings;
  std::unordered_map<OTF2_RegionRef, Region> regions;
  std::unordered_map<OTF2_AttributeRef, OTF2_StringRef> attributes;  // names
  std::unordered_map<OTF2_GroupRef, Group> groups;
  std::vector<std::uint64_t> comm_locations;
  std::unordered_map<OTF2_CommRef, Communicator> communicators;
  std::vector<OTF2_CommRef> communicator_order;
  std::vector<Location> locations;
  std::unordered_map<OTF2_LocationGroupRef, LocationGroup> location_groups;
  std::unordered_map<OTF2_SystemTreeNodeRef, OTF2_StringRef> nodes;  // names
  std::unordered_map<OTF2_SourceCodeLocationRef, std::pair<OTF2_StringRef, std::uint32_t>> sources;
  std::unordered_map<OTF2_CallingContextRef, CallingContext> contexts;
  std::unordered_map<OTF2_MetricMemberRef, MetricMember> metric_members;
  std::unordered_map<OTF2_MetricRef, std::vector<OTF2_MetricMemberRef>> metrics;
};

// Events of a program as tare exports them: regions that take no time, whose attributes are the parameters.
// The class of the events that a region stands for; nothing if it is a region like others.
std::optional<format::EventClass> event_class_of(const ArchiveDefinitions& definitions, OTF2_RegionRef region);

struct Parameters {
  std::vector<format::ParameterType> types;
  std::vector<std::uint64_t> words;
  std::string text;  // of a raw event
};
// At most format::max_parameters, in their order. Other attributes are left out.
Parameters parameters_of(const ArchiveDefinitions& definitions, const OTF2_AttributeList* attributes);

}  // namespace tare::importers::otf2
