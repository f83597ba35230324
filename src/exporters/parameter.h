// The parameters of events of the program, which are recorded as words of 8 bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/definition.h"
#include "reader/events/event_stream.h"
#include "reader/run/run.h"

namespace tare::exporters {

constexpr bool is_floating(format::ParameterType type) {
  return type == format::ParameterType::f32 || type == format::ParameterType::f64;
}
constexpr bool is_signed(format::ParameterType type) { return type <= format::ParameterType::i64; }

// The value, reduced to the size of its type.
std::int64_t signed_value(std::uint64_t word, format::ParameterType type);
std::uint64_t unsigned_value(std::uint64_t word, format::ParameterType type);
// The value, if the type is a floating-point type.
double floating_value(std::uint64_t word, format::ParameterType type);

// The types of the parameters that an event has. Those of packed events are not known: they are words.
std::vector<format::ParameterType> parameter_types(const reader::Run& run, const reader::EventRow& row);
// All parameters of an event: "-1, 4294967295, 3.25".
std::string parameters_text(const reader::Run& run, const reader::EventRow& row);

}  // namespace tare::exporters
