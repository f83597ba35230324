// What OTF2 has for a function of MPI.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>

#include "format/record.h"

namespace tare::exporters::otf2 {

OTF2_RegionRole role_of(std::uint16_t function);
// For collective operations on communicators; none if OTF2 does not know the operation.
std::optional<OTF2_CollectiveOp> collective_op_of(std::uint16_t function);

// Numbers as OTF2's records have them.
inline std::uint64_t request_key(std::uint32_t thread, std::uint32_t request) {
  return std::uint64_t{thread} << 32 | request;
}
// Nothing is known about failed calls.
inline std::uint64_t or_none(std::uint64_t bytes) { return bytes == format::no_bytes ? 0 : bytes; }
inline std::uint32_t as_u32(std::int32_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace tare::exporters::otf2
