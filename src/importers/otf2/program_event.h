// Events of a program as tare exports them: regions that take no time, whose attributes are the parameters.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/definition.h"
#include "importers/otf2/archive_definitions.h"

namespace tare::importers::otf2 {

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
