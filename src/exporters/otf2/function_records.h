// What OTF2 has for a function of MPI.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>

namespace tare::exporters::otf2 {

OTF2_RegionRole role_of(std::uint16_t function);
// For collective operations on communicators; none if OTF2 does not know the operation.
std::optional<OTF2_CollectiveOp> collective_op_of(std::uint16_t function);

}  // namespace tare::exporters::otf2
