// Events of the program: their classes, and their parameters, which are recorded as words of 8 bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "format/definition.h"
#include "reader/events/event_row.h"
#include "reader/run/run.h"

namespace tare::reader {

// As they are called in tables and in JSON; by format::EventClass.
inline constexpr const char* event_class_names[] = {"event", "packed", "raw", "region", "counter", "marker", "phase"};

// The class of an event of the program. The form of its record decides between raw and the others, whatever its
// definition says.
inline format::EventClass class_of(const Run& run, const EventRow& row) {
  using format::EventClass;
  if (row.kind == EventKind::raw_event) return EventClass::raw;
  if (row.event_type < 0) return EventClass::packed;
  const EventClass of_type = run.event_types()[static_cast<std::size_t>(row.event_type)].event_class;
  return of_type == EventClass::raw ? EventClass::packed : of_type;
}

// The types of the parameters that an event has. Those of packed events are not known: they are words.
inline std::vector<format::ParameterType> parameter_types(const Run& run, const EventRow& row) {
  std::vector<format::ParameterType> types;
  if (row.event_type >= 0) types = run.event_types()[static_cast<std::size_t>(row.event_type)].parameters;
  types.resize(row.parameters.size(), format::ParameterType::u64);
  return types;
}

// Calls `use` with the value of a word: a std::int64_t, std::uint64_t or double, reduced to the size of its type.
template <typename Use>
auto with_value(std::uint64_t word, format::ParameterType type, const Use& use) {
  using format::ParameterType;
  switch (type) {
    case ParameterType::i8:
      return use(std::int64_t{static_cast<std::int8_t>(word)});
    case ParameterType::i16:
      return use(std::int64_t{static_cast<std::int16_t>(word)});
    case ParameterType::i32:
      return use(std::int64_t{static_cast<std::int32_t>(word)});
    case ParameterType::i64:
      return use(static_cast<std::int64_t>(word));
    case ParameterType::u8:
      return use(std::uint64_t{static_cast<std::uint8_t>(word)});
    case ParameterType::u16:
      return use(std::uint64_t{static_cast<std::uint16_t>(word)});
    case ParameterType::u32:
      return use(std::uint64_t{static_cast<std::uint32_t>(word)});
    case ParameterType::f32:
      return use(double{std::bit_cast<float>(static_cast<std::uint32_t>(word))});
    case ParameterType::f64:
      return use(std::bit_cast<double>(word));
    case ParameterType::u64:
      break;
  }
  return use(word);
}

}  // namespace tare::reader
