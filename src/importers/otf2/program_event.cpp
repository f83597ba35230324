#include "importers/otf2/program_event.h"

#include <array>
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
