// What records of calls of functions on files have beside their times.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "files/measure.h"
#include "format/record.h"

#define TARE_EXPORT [[gnu::visibility("default")]]

namespace tare::files {

// What measure() is told of a call that has ended.
template <std::size_t count>
struct Described {
  std::uint64_t bytes;
  std::uint64_t arguments[count];
};

// Descriptors are not negative, unless the call fails.
inline std::uint64_t number_of(int descriptor) noexcept { return static_cast<std::uint32_t>(descriptor); }

// What a call that moves bytes has ended with.
inline std::uint64_t bytes_of(ssize_t result) noexcept {
  return result < 0 ? format::no_bytes : static_cast<std::uint64_t>(result);
}

// Calls that move no bytes.
inline Described<2> described(int descriptor, std::uint64_t error) noexcept {
  return {format::no_bytes, {number_of(descriptor), error}};
}
// Calls that move bytes.
inline Described<3> described(ssize_t bytes, int descriptor, std::uint64_t error) noexcept {
  return {bytes_of(bytes), {bytes_of(bytes), number_of(descriptor), error}};
}

}  // namespace tare::files
