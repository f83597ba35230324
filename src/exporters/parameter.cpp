#include "exporters/parameter.h"

#include <bit>
#include <charconv>
#include <iterator>
#include <vector>

namespace tare::exporters {

using format::ParameterType;

std::int64_t signed_value(std::uint64_t word, ParameterType type) {
  if (type == ParameterType::i8) return static_cast<std::int8_t>(word);
  if (type == ParameterType::i16) return static_cast<std::int16_t>(word);
  if (type == ParameterType::i32) return static_cast<std::int32_t>(word);
  return static_cast<std::int64_t>(word);
}

std::uint64_t unsigned_value(std::uint64_t word, ParameterType type) {
  if (type == ParameterType::u8) return static_cast<std::uint8_t>(word);
  if (type == ParameterType::u16) return static_cast<std::uint16_t>(word);
  if (type == ParameterType::u32) return static_cast<std::uint32_t>(word);
  return word;
}

double floating_value(std::uint64_t word, ParameterType type) {
  if (type == ParameterType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(word));
  return std::bit_cast<double>(word);
}

std::vector<ParameterType> parameter_types(const reader::Run& run, const reader::EventRow& row) {
  std::vector<ParameterType> types;
  if (row.event_type >= 0) types = run.event_types()[static_cast<std::size_t>(row.event_type)].parameters;
  types.resize(row.parameters.size(), ParameterType::u64);
  return types;
}

std::string parameters_text(const reader::Run& run, const reader::EventRow& row) {
  const std::vector<ParameterType> types = parameter_types(run, row);
  std::string text;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    const ParameterType type = types[i];
    const std::uint64_t word = row.parameters[i];
    char digits[32];
    char* const end = std::end(digits);
    const char* const last = is_floating(type) ? std::to_chars(digits, end, floating_value(word, type)).ptr
                             : is_signed(type) ? std::to_chars(digits, end, signed_value(word, type)).ptr
                                               : std::to_chars(digits, end, unsigned_value(word, type)).ptr;
    if (i != 0) text += ", ";
    text.append(digits, static_cast<std::size_t>(last - digits));
  }
  return text;
}

}  // namespace tare::exporters
