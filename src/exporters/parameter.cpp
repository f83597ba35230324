#include "exporters/parameter.h"

#include <bit>

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

}  // namespace tare::exporters
