#include "importers/otf2/archive_definitions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "format/record.h"

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

namespace {

using format::EventClass;
using format::ParameterType;

struct Parameter {
  ParameterType type = ParameterType::u64;
  std::uint64_t word = 0;
};

struct Number {
  ParameterType type;
  unsigned bits;
};
// By OTF2_Type, from OTF2_TYPE_UINT8 to OTF2_TYPE_DOUBLE.
constexpr Number numbers[] = {{ParameterType::u8, 8},   {ParameterType::u16, 16}, {ParameterType::u32, 32},
                              {ParameterType::u64, 64}, {ParameterType::i8, 8},   {ParameterType::i16, 16},
                              {ParameterType::i32, 32}, {ParameterType::i64, 64}, {ParameterType::f32, 32},
                              {ParameterType::f64, 64}};

// Smaller types are the first bytes of the value; the others are not defined.
std::optional<Parameter> parameter_of(OTF2_Type type, const OTF2_AttributeValue& value) {
  if (type < OTF2_TYPE_UINT8 || type > OTF2_TYPE_DOUBLE) return std::nullopt;
  const auto [of, bits] = numbers[type - OTF2_TYPE_UINT8];
  const std::uint64_t high = value.uint64 << (64 - bits);
  if (of > ParameterType::i64) return Parameter{of, high >> (64 - bits)};
  return Parameter{of, static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> (64 - bits))};
}

// The place of "parameter_1", from 0.
std::optional<std::size_t> place_of(std::string_view name) {
  constexpr std::string_view start = "parameter_";
  if (!name.starts_with(start)) return std::nullopt;
  name.remove_prefix(start.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_whole = error == std::errc{} && end == name.data() + name.size();
  if (!is_whole || number < 1 || number > format::max_parameters) return std::nullopt;
  return number - 1;
}

}  // namespace

std::optional<EventClass> event_class_of(const ArchiveDefinitions& definitions, OTF2_RegionRef region) {
  const auto found = definitions.regions.find(region);
  if (found == definitions.regions.end()) return std::nullopt;
  const std::string& description = definitions.text(found->second.description);
  if (description == "tare event") return EventClass::regular;
  if (description == "tare packed event") return EventClass::packed;
  if (description == "tare raw event") return EventClass::raw;
  return std::nullopt;
}

Parameters parameters_of(const ArchiveDefinitions& definitions, const OTF2_AttributeList* attributes) {
  std::array<std::optional<Parameter>, format::max_parameters> found;
  Parameters all;
  const std::uint32_t count = OTF2_AttributeList_GetNumberOfElements(attributes);
  for (std::uint32_t i = 0; i < count; ++i) {
    OTF2_AttributeRef number = 0;
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value;
    if (OTF2_AttributeList_GetAttributeByIndex(attributes, i, &number, &type, &value) != OTF2_SUCCESS) continue;
    const auto name = definitions.attributes.find(number);
    if (name == definitions.attributes.end()) continue;
    const std::string& text = definitions.text(name->second);
    if (const auto place = place_of(text))
      found[*place] = parameter_of(type, value);
    else if (text == "text" && type == OTF2_TYPE_STRING)
      all.text = definitions.text(value.stringRef);
  }
  for (const auto& parameter : found) {
    if (!parameter) break;
    all.types.push_back(parameter->type);
    all.words.push_back(parameter->word);
  }
  return all;
}

}  // namespace tare::importers::otf2
