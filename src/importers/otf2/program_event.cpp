#include "importers/otf2/program_event.h"

#include <array>
#include <bit>
#include <charconv>
#include <string_view>

#include "format/record.h"

namespace tare::importers::otf2 {
namespace {

using format::EventClass;
using format::ParameterType;

struct Parameter {
  ParameterType type = ParameterType::u64;
  std::uint64_t word = 0;
};

std::optional<Parameter> parameter_of(OTF2_Type type, const OTF2_AttributeValue& value) {
  const auto integer = [](ParameterType of, auto number) { return Parameter{of, static_cast<std::uint64_t>(number)}; };
  switch (type) {
    case OTF2_TYPE_INT8:
      return integer(ParameterType::i8, value.int8);
    case OTF2_TYPE_INT16:
      return integer(ParameterType::i16, value.int16);
    case OTF2_TYPE_INT32:
      return integer(ParameterType::i32, value.int32);
    case OTF2_TYPE_INT64:
      return integer(ParameterType::i64, value.int64);
    case OTF2_TYPE_UINT8:
      return integer(ParameterType::u8, value.uint8);
    case OTF2_TYPE_UINT16:
      return integer(ParameterType::u16, value.uint16);
    case OTF2_TYPE_UINT32:
      return integer(ParameterType::u32, value.uint32);
    case OTF2_TYPE_UINT64:
      return integer(ParameterType::u64, value.uint64);
    case OTF2_TYPE_FLOAT:
      return Parameter{ParameterType::f32, std::bit_cast<std::uint32_t>(value.float32)};
    case OTF2_TYPE_DOUBLE:
      return Parameter{ParameterType::f64, std::bit_cast<std::uint64_t>(value.float64)};
    default:
      return std::nullopt;
  }
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
