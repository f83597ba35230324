// The global definitions of an archive: what the numbers in its events mean.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exporters/otf2/archive.h"
#include "exporters/otf2/communicator_numbers.h"
#include "exporters/otf2/io_records.h"
#include "exporters/otf2/source_records.h"
#include "exporters/texts.h"
#include "exporters/timeline.h"
#include "reader/model/communicator_info.h"
#include "reader/run/run.h"

namespace tare::exporters::otf2 {

// A rank of a world that is not in the trace. Communicators have it as a member.
struct AbsentRank {
  std::int32_t world, rank;
};

// The ranks of a run as OTF2 counts them: the members of its communicators.
//
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

// Attributes of calls and events, named as in docs/json.md. Those of parameters follow.
enum Attribute : OTF2_AttributeRef {
  call_path,
  call_site,
  peer,
  root,
  tag,
  bytes,
  received,
  window,
  mpi_file,
  records,
  text,
  attribute_count
};

// A location that has events.
struct LocationEntry {
  OTF2_LocationRef reference = 0;
  OTF2_LocationGroupRef group = 0;
  std::string name;
  std::uint64_t events = 0, lost = 0;
};

// What records of other kinds refer to.
struct OtherDefinitions {
  const CommunicatorNumbers& communicators;
  const std::vector<std::int32_t>& windows;  // places in Run::scopes(), by their numbers
  const std::vector<ThreadTeam>& teams;
  const IoRecords& io;
};

// Assigns numbers to what events refer to. The definitions are written after the events.
class Definitions {
 public:
  // Both must outlive it.
  Definitions(reader::Run& run, const Names& names) : run_(run), names_(names) { string(""); }

  OTF2_RegionRef region(const reader::EventRow& row);
  OTF2_MetricRef metric(std::int32_t event_type);
  // The attribute of a parameter of events, by its place among them and its type.
  OTF2_AttributeRef parameter(std::size_t place, OTF2_Type type);
  OTF2_StringRef string(std::string_view text);
  // The path up to the call, -1 if it is not known; and the place that is shown for it.
  OTF2_CallingContextRef calling_context(std::int32_t site);
  OTF2_SourceCodeLocationRef source(std::int32_t site);

  void write(Archive& archive, const CommLocations& ranks, const std::vector<LocationEntry>& locations,
             const OtherDefinitions& others, std::int64_t start_ns, std::int64_t end_ns, std::int64_t zero_ns);

 private:
  struct Region {
    OTF2_StringRef name;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    OTF2_RegionFlag flags;
    OTF2_StringRef file;
    OTF2_StringRef description = 0;
  };
  struct Context {
    OTF2_RegionRef region;
    OTF2_SourceCodeLocationRef source;
    OTF2_CallingContextRef parent;
  };

  // Where definitions are written.
  struct Output {
    Archive& archive;
    OTF2_GlobalDefWriter* writer;
    template <class Definition, class... Fields>
    void write(Definition definition, Fields... fields) {
      archive.check(definition(writer, fields...));
    }
  };

  OTF2_RegionRef add_region(const Region& region);
  OTF2_SourceCodeLocationRef source_of(const std::string& file, std::uint32_t line);
  OTF2_CallingContextRef context_of(std::int32_t frame, OTF2_CallingContextRef parent);
  void write_attributes(Output& to);
  void write_processes(Output& to, const CommLocations& ranks, const std::vector<LocationEntry>& locations);
  // The node of a host, which is defined by then.
  OTF2_SystemTreeNodeRef host_node(Output& to, const std::string& host);
  // The first number of a group that is free behind it.
  OTF2_GroupRef write_communicators(Output& to, const CommLocations& ranks, const CommunicatorNumbers& numbers);
  void write_teams(Output& to, const std::vector<ThreadTeam>& teams, OTF2_CommRef first, OTF2_GroupRef first_group);
  void write_windows(Output& to, const OtherDefinitions& others);
  void write_io(Output& to, const IoRecords& io);
  void write_strings(Output& to);
  // The number of a text that is defined already, or now.
  OTF2_StringRef written(Output& to, std::string_view text);

  reader::Run& run_;
  const Names& names_;
  std::unordered_map<std::string, OTF2_StringRef> string_index_;
  std::vector<const std::string*> strings_;
  std::size_t strings_written_ = 0;
  std::map<OTF2_StringRef, OTF2_SystemTreeNodeRef> hosts_;
  std::vector<Region> regions_;
  std::unordered_map<std::uint32_t, OTF2_RegionRef> region_index_;                     // by kind and number, of events
  std::map<std::pair<OTF2_StringRef, OTF2_StringRef>, OTF2_RegionRef> frame_regions_;  // by name and file
  std::map<std::int32_t, OTF2_MetricRef> metrics_;                                     // by event type
  std::map<std::pair<std::size_t, OTF2_Type>, OTF2_AttributeRef> parameter_index_;
  std::vector<std::pair<std::size_t, OTF2_Type>> parameters_;  // place and type
  std::map<std::pair<OTF2_StringRef, std::uint32_t>, OTF2_SourceCodeLocationRef> source_index_;
  std::vector<std::pair<OTF2_StringRef, std::uint32_t>> sources_;  // file and line
  std::map<std::pair<std::int32_t, OTF2_CallingContextRef>, OTF2_CallingContextRef> context_index_;
  std::vector<Context> contexts_;
  std::unordered_map<std::int32_t, OTF2_CallingContextRef> context_of_site_;
  std::unordered_map<std::int32_t, OTF2_SourceCodeLocationRef> source_of_site_;
};

}  // namespace tare::exporters::otf2
