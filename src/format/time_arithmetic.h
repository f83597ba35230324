// Arithmetic of times that saturates: results stay within the range of the integer. Times from damaged files, or from
// memory that others write, can have any value.
#pragma once

#include <cstdint>

namespace tare::format {

inline std::int64_t sum(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? (b > 0 ? INT64_MAX : INT64_MIN) : result;
}
inline std::int64_t difference(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? (b < 0 ? INT64_MAX : INT64_MIN) : result;
}
inline std::int64_t product(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN) : result;
}

}  // namespace tare::format
