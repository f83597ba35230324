// Of times, which damage can make as large as can be.
#pragma once

#include <cstdint>

namespace tare::reader {

inline std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? (b > 0 ? INT64_MAX : INT64_MIN) : result;
}
inline std::int64_t difference(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? (b < 0 ? INT64_MAX : INT64_MIN) : result;
}

}  // namespace tare::reader
