#include "exporters/otf2/definitions.h"

#include <algorithm>
#include <map>
#include <set>

#include "exporters/otf2/mpi_records.h"
#include "exporters/texts.h"
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

namespace {

constexpr const char* attribute_names[] = {"call_path", "call_site", "peer",     "root",    "tag", "bytes",
                                           "received",  "window",    "mpi_file", "records", "text"};
static_assert(std::size(attribute_names) == attribute_count);
constexpr OTF2_Type attribute_types[] = {OTF2_TYPE_CALLING_CONTEXT, OTF2_TYPE_SOURCE_CODE_LOCATION,
                                         OTF2_TYPE_INT32,           OTF2_TYPE_INT32,
                                         OTF2_TYPE_INT32,           OTF2_TYPE_UINT64,
                                         OTF2_TYPE_UINT64,          OTF2_TYPE_STRING,
                                         OTF2_TYPE_STRING,          OTF2_TYPE_UINT64,
                                         OTF2_TYPE_STRING};
static_assert(std::size(attribute_types) == attribute_count);

// The node of the system tree that all hosts belong to.
constexpr OTF2_SystemTreeNodeRef machine = 0;

constexpr std::uint64_t ticks_a_second = 1'000'000'000;

// The description of regions that stand for an event of the program; nullptr for other classes of events.
const char* description_of(format::EventClass event_class) {
  switch (event_class) {
    case format::EventClass::regular:
      return "tare event";
    case format::EventClass::packed:
      return "tare packed event";
    case format::EventClass::raw:
      return "tare raw event";
    default:
      return nullptr;
  }
}

}  // namespace

OTF2_StringRef Definitions::string(std::string_view text) {
  const auto [at, is_new] = string_index_.emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
  if (is_new) strings_.push_back(&at->first);
  return at->second;
}

OTF2_RegionRef Definitions::add_region(const Region& region) {
  regions_.push_back(region);
  return static_cast<OTF2_RegionRef>(regions_.size() - 1);
}

OTF2_RegionRef Definitions::region(const EventRow& row) {
  const std::uint32_t key = name_key(row, row.kind);
  const auto found = region_index_.find(key);
  if (found != region_index_.end()) return found->second;
  Region region{string(names_.event(row)), OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_MEASUREMENT_SYSTEM,
                OTF2_REGION_FLAG_NONE, 0};
  if (is_call(row.kind)) {
    const bool is_of_mpi = row.kind == EventKind::call;
    region.role = is_of_mpi ? role_of(row.function) : role_of_source(row.function);
    region.paradigm = is_of_mpi ? OTF2_Paradigm{OTF2_PARADIGM_MPI} : paradigm_of_source(run_, row.function);
  } else if (is_of_program(row.kind)) {
    region.role = OTF2_REGION_ROLE_CODE;
    region.paradigm = OTF2_PARADIGM_USER;
    const format::EventClass event_class = class_of(run_, row);
    if (event_class == format::EventClass::phase) region.flags = OTF2_REGION_FLAG_PHASE;
    if (const char* description = description_of(event_class)) {
      region.role = OTF2_REGION_ROLE_ARTIFICIAL;
      region.description = string(description);
    }
  }
  return region_index_[key] = add_region(region);
}

OTF2_MetricRef Definitions::metric(std::int32_t event_type) {
  return metrics_.emplace(event_type, static_cast<OTF2_MetricRef>(metrics_.size())).first->second;
}

OTF2_AttributeRef Definitions::parameter(std::size_t place, OTF2_Type type) {
  const auto next = static_cast<OTF2_AttributeRef>(attribute_count + parameters_.size());
  const auto [at, is_new] = parameter_index_.emplace(std::pair{place, type}, next);
  if (is_new) parameters_.push_back(at->first);
  return at->second;
}

OTF2_SourceCodeLocationRef Definitions::source_of(const std::string& file, std::uint32_t line) {
  if (file.empty()) return OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
  const std::pair place{string(file), line};
  const auto [at, is_new] = source_index_.emplace(place, static_cast<OTF2_SourceCodeLocationRef>(sources_.size()));
  if (is_new) sources_.push_back(place);
  return at->second;
}

OTF2_SourceCodeLocationRef Definitions::source(std::int32_t site) {
  const auto found = source_of_site_.find(site);
  if (found != source_of_site_.end()) return found->second;
  const CodePlace& place = names_.site(site);
  return source_of_site_[site] = source_of(place.file, place.line);
}

OTF2_CallingContextRef Definitions::context_of(std::int32_t frame, OTF2_CallingContextRef parent) {
  const auto found = context_index_.find({frame, parent});
  if (found != context_index_.end()) return found->second;
  const Symbol& symbol = run_.frames()[static_cast<std::size_t>(frame)].symbol;
  const OTF2_StringRef name = string(symbol.caller.empty() ? "(unknown)" : plain_text(symbol.caller));
  const std::string file_name = plain_text(symbol.file);
  const OTF2_StringRef file = string(file_name);
  auto region = frame_regions_.find({name, file});
  if (region == frame_regions_.end()) {
    const OTF2_RegionRef made =
        add_region({name, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, file});
    region = frame_regions_.emplace(std::pair{name, file}, made).first;
  }
  contexts_.push_back({region->second, source_of(file_name, symbol.line), parent});
  return context_index_[{frame, parent}] = static_cast<OTF2_CallingContextRef>(contexts_.size() - 1);
}

OTF2_CallingContextRef Definitions::calling_context(std::int32_t site) {
  const auto found = context_of_site_.find(site);
  if (found != context_of_site_.end()) return found->second;
  OTF2_CallingContextRef context = OTF2_UNDEFINED_CALLING_CONTEXT;
  const std::vector<std::int32_t>& path = run_.sites()[static_cast<std::size_t>(site)].path;
  for (auto frame = path.rbegin(); frame != path.rend(); ++frame) context = context_of(*frame, context);
  return context_of_site_[site] = context;
}

// Strings must be defined before the definitions that use them.
void Definitions::write_strings(Output& to) {
  for (; strings_written_ < strings_.size(); ++strings_written_)
    to.write(OTF2_GlobalDefWriter_WriteString, static_cast<OTF2_StringRef>(strings_written_),
             strings_[strings_written_]->c_str());
}

OTF2_StringRef Definitions::written(Output& to, std::string_view text) {
  const OTF2_StringRef number = string(text);
  write_strings(to);
  return number;
}

void Definitions::write(Archive& archive, const CommLocations& ranks, const std::vector<LocationEntry>& locations,
                        const OtherDefinitions& others, std::int64_t start_ns, std::int64_t end_ns,
                        std::int64_t zero_ns) {
  Output to{archive, archive.open_definitions()};
  if (to.writer == nullptr) return;
  const auto unsigned_ns = [](std::int64_t time) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0));
  };
  const std::int64_t first = std::min(start_ns, zero_ns);
  to.write(OTF2_GlobalDefWriter_WriteClockProperties, ticks_a_second, unsigned_ns(first),
           unsigned_ns(end_ns) - unsigned_ns(first), unsigned_ns(first));
  const struct {
    OTF2_Paradigm paradigm;
    const char* name;
    OTF2_ParadigmClass of;
  } paradigms[] = {{OTF2_PARADIGM_MPI, "MPI", OTF2_PARADIGM_CLASS_PROCESS},
                   {OTF2_PARADIGM_OPENMP, "OpenMP", OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN}};
  for (const auto& [paradigm, name, of] : paradigms) {
    const OTF2_StringRef text = written(to, name);
    to.write(OTF2_GlobalDefWriter_WriteParadigm, paradigm, text, of);
  }
  write_attributes(to);
  write_processes(to, ranks, locations);
  const OTF2_GroupRef free_group = write_communicators(to, ranks, others.communicators);
  write_teams(to, others.teams, others.communicators.count(), free_group);
  write_windows(to, others);
  write_io(to, others.io);
  write_strings(to);
  for (OTF2_RegionRef i = 0; i < regions_.size(); ++i) {
    const Region& of = regions_[i];
    to.write(OTF2_GlobalDefWriter_WriteRegion, i, of.name, of.name, of.description, of.role, of.paradigm, of.flags,
             of.file, OTF2_UNDEFINED_UINT32, OTF2_UNDEFINED_UINT32);
  }
  for (OTF2_SourceCodeLocationRef i = 0; i < sources_.size(); ++i)
    to.write(OTF2_GlobalDefWriter_WriteSourceCodeLocation, i, sources_[i].first, sources_[i].second);
  for (OTF2_CallingContextRef i = 0; i < contexts_.size(); ++i)
    to.write(OTF2_GlobalDefWriter_WriteCallingContext, i, contexts_[i].region, contexts_[i].source,
             contexts_[i].parent);
  for (const auto& [type, number] : metrics_) {
    const EventType& counter = run_.event_types()[static_cast<std::size_t>(type)];
    const OTF2_StringRef unit = written(to, plain_text(counter.unit)), name = written(to, plain_text(counter.name));
    const OTF2_MetricMemberRef member = number;
    to.write(OTF2_GlobalDefWriter_WriteMetricMember, member, name, 0, OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT,
             OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0, unit);
    to.write(OTF2_GlobalDefWriter_WriteMetricClass, number, 1, &member, OTF2_METRIC_ASYNCHRONOUS,
             OTF2_RECORDER_KIND_ABSTRACT);
  }
}

void Definitions::write_attributes(Output& to) {
  const auto write_one = [&](OTF2_AttributeRef number, const std::string& text, OTF2_Type type) {
    const OTF2_StringRef name = written(to, text);
    to.write(OTF2_GlobalDefWriter_WriteAttribute, number, name, 0, type);
  };
  for (OTF2_AttributeRef i = 0; i < attribute_count; ++i) write_one(i, attribute_names[i], attribute_types[i]);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    write_one(static_cast<OTF2_AttributeRef>(attribute_count + i),
              "parameter_" + std::to_string(parameters_[i].first + 1), parameters_[i].second);
}

void Definitions::write_windows(Output& to, const OtherDefinitions& others) {
  OTF2_RmaWinRef number = 0;
  for (const std::int32_t window : others.windows) {
    const ScopeInfo& of = run_.scopes()[static_cast<std::size_t>(window)];
    const OTF2_StringRef name = written(to, names_.scope(window));
    to.write(OTF2_GlobalDefWriter_WriteRmaWin, number++, name, others.communicators.of(of.communicator),
             OTF2_RMA_WIN_FLAG_NONE);
  }
}

OTF2_SystemTreeNodeRef Definitions::host_node(Output& to, const std::string& host) {
  const OTF2_StringRef name = string(plain_text(host)), node_class = string("node");
  const auto [at, is_new] = hosts_.emplace(name, static_cast<OTF2_SystemTreeNodeRef>(hosts_.size() + 1));
  if (is_new) {
    write_strings(to);
    to.write(OTF2_GlobalDefWriter_WriteSystemTreeNode, at->second, name, node_class, machine);
    to.write(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain, at->second, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
  }
  return at->second;
}

void Definitions::write_processes(Output& to, const CommLocations& ranks, const std::vector<LocationEntry>& locations) {
  const OTF2_StringRef machine_name = written(to, "machine");
  to.write(OTF2_GlobalDefWriter_WriteSystemTreeNode, machine, machine_name, machine_name,
           OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  to.write(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain, machine, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
  const auto write_group = [&](OTF2_LocationGroupRef group, const std::string& name, OTF2_SystemTreeNodeRef node) {
    const OTF2_StringRef text = written(to, name);
    to.write(OTF2_GlobalDefWriter_WriteLocationGroup, group, text, OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
             OTF2_UNDEFINED_LOCATION_GROUP);
  };
  const auto count = static_cast<std::uint32_t>(run_.processes().size());
  for (std::uint32_t i = 0; i < count; ++i)
    write_group(i, names_.process(i), host_node(to, run_.processes()[i].record.host));
  for (std::uint32_t i = 0; i < ranks.absent().size(); ++i) {
    const AbsentRank& absent = ranks.absent()[i];
    const std::string world = absent.world == 0 ? "" : "world " + std::to_string(absent.world) + " ";
    write_group(count + i, world + "rank " + std::to_string(absent.rank) + " (not in the trace)", machine);
  }
  const OTF2_StringRef lost_name = written(to, "TARE::LOST_RECORDS");
  for (const LocationEntry& location : locations) {
    const OTF2_StringRef name = written(to, location.name);
    to.write(OTF2_GlobalDefWriter_WriteLocation, location.reference, name, OTF2_LOCATION_TYPE_CPU_THREAD,
             location.events, location.group);
    OTF2_AttributeValue value;
    value.uint64 = location.lost;
    if (location.lost != 0)
      to.write(OTF2_GlobalDefWriter_WriteLocationProperty, location.reference, lost_name, OTF2_TYPE_UINT64, value);
  }
}

OTF2_GroupRef Definitions::write_communicators(Output& to, const CommLocations& ranks,
                                               const CommunicatorNumbers& numbers) {
  OTF2_GroupRef last_group = 0;
  if (ranks.locations().empty()) return last_group;
  write_strings(to);
  to.write(OTF2_GlobalDefWriter_WriteGroup, last_group, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
           OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(ranks.locations().size()), ranks.locations().data());
  std::map<std::vector<std::uint64_t>, OTF2_GroupRef> groups;
  const auto group_of = [&](std::int32_t world, const Members& members) {
    std::vector<std::uint64_t> places = *ranks.places(world, members);
    const auto found = groups.find(places);
    if (found != groups.end()) return found->second;
    to.write(OTF2_GlobalDefWriter_WriteGroup, ++last_group, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
             OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(places.size()), places.data());
    groups.emplace(std::move(places), last_group);
    return last_group;
  };
  const auto count = static_cast<std::int32_t>(run_.communicators().size());
  for (std::int32_t i = 0; i < count; ++i) {
    if (!numbers.has(i)) continue;
    const CommunicatorInfo& of = run_.communicators()[static_cast<std::size_t>(i)];
    const OTF2_CommRef number = numbers.of(i);
    const OTF2_StringRef name = written(to, names_.communicator(i));
    const OTF2_GroupRef group = group_of(of.world, *of.members);
    if (of.inter)
      to.write(OTF2_GlobalDefWriter_WriteInterComm, number, name, group, group_of(of.world, *of.remote_members),
               OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    else
      to.write(OTF2_GlobalDefWriter_WriteComm, number, name, group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  }
  return last_group + 1;
}

// A pre-created handle was there before the trace began; how it was opened is not known.
void Definitions::write_io(Output& to, const IoRecords& io) {
  const struct {
    format::FileInterface interface;
    const char* identification;
    const char* name;
    OTF2_IoParadigmClass of;
    OTF2_IoParadigmFlag flags;
  } paradigms[] = {
      {format::FileInterface::posix, "POSIX", "POSIX I/O", OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS},
      {format::FileInterface::stdio, "ISOC", "ISO C I/O", OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS},
      {format::FileInterface::mpi_io, "MPI-IO", "MPI-IO", OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE}};
  std::map<format::FileInterface, OTF2_IoParadigmRef> numbers;  // OTF2 wants them without a gap
  for (const auto& each : paradigms) {
    const bool is_used = std::any_of(io.handles().begin(), io.handles().end(),
                                     [&](const IoHandle& handle) { return handle.interface == each.interface; });
    if (!is_used) continue;
    const OTF2_StringRef identification = written(to, each.identification), name = written(to, each.name);
    const auto number = static_cast<OTF2_IoParadigmRef>(numbers.size());
    numbers.emplace(each.interface, number);
    to.write(OTF2_GlobalDefWriter_WriteIoParadigm, number, identification, name, each.of, each.flags, std::uint8_t{0},
             nullptr, nullptr, nullptr);
  }
  OTF2_IoFileRef file_number = 0;
  for (const IoFile& file : io.files()) {
    const OTF2_StringRef name = written(to, file.name);
    const OTF2_SystemTreeNodeRef scope = file.host ? host_node(to, *file.host) : machine;
    to.write(file.is_directory ? OTF2_GlobalDefWriter_WriteIoDirectory : OTF2_GlobalDefWriter_WriteIoRegularFile,
             file_number++, name, scope);
  }
  OTF2_IoHandleRef handle_number = 0;
  for (const IoHandle& handle : io.handles()) {
    const OTF2_StringRef name = written(to, handle.name);
    const OTF2_IoHandleFlag flags = handle.is_pre_created ? OTF2_IO_HANDLE_FLAG_PRE_CREATED : OTF2_IO_HANDLE_FLAG_NONE;
    to.write(OTF2_GlobalDefWriter_WriteIoHandle, handle_number++, name, handle.file, numbers.at(handle.interface),
             flags, handle.communicator, OTF2_IoHandleRef{OTF2_UNDEFINED_IO_HANDLE});
  }
}

// A team of which a thread is not in the trace has a gap less.
void Definitions::write_teams(Output& to, const std::vector<ThreadTeam>& teams, OTF2_CommRef first,
                              OTF2_GroupRef first_group) {
  if (teams.empty()) return;
  std::map<OTF2_LocationRef, std::uint64_t> places;
  for (const ThreadTeam& team : teams)
    for (const OTF2_LocationRef member : team)
      if (member != OTF2_UNDEFINED_LOCATION) places.emplace(member, 0);
  std::vector<std::uint64_t> locations;
  for (auto& [location, place] : places) {
    place = locations.size();
    locations.push_back(location);
  }
  OTF2_GroupRef group = first_group;
  write_strings(to);
  to.write(OTF2_GlobalDefWriter_WriteGroup, group, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP,
           OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(locations.size()), locations.data());
  OTF2_CommRef number = first;
  for (const ThreadTeam& team : teams) {
    std::vector<std::uint64_t> members;
    for (const OTF2_LocationRef member : team)
      if (member != OTF2_UNDEFINED_LOCATION) members.push_back(places.at(member));
    to.write(OTF2_GlobalDefWriter_WriteGroup, ++group, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP,
             OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(members.size()), members.data());
    const OTF2_StringRef name = written(to, "team of " + std::to_string(team.size()) + " threads");
    to.write(OTF2_GlobalDefWriter_WriteComm, number++, name, group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  }
}

}  // namespace tare::exporters::otf2
