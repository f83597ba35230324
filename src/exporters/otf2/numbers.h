// Numbers as OTF2's records have them.
#pragma once

#include <cstdint>

#include "format/record.h"

namespace tare::exporters::otf2 {

inline std::uint64_t request_key(std::uint32_t thread, std::uint32_t request) {
  return std::uint64_t{thread} << 32 | request;
}
// Nothing is known about failed calls.
inline std::uint64_t or_none(std::uint64_t bytes) { return bytes == format::no_bytes ? 0 : bytes; }
inline std::uint32_t as_u32(std::int32_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace tare::exporters::otf2
