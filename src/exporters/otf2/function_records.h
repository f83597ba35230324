// What OTF2 has for a function of MPI.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <string>

#include "reader/store/function_names.h"

namespace tare::exporters::otf2 {

OTF2_RegionRole role_of(std::uint16_t function);
// Of collective operations on communicators; none of those for which OTF2 has no word.
std::optional<OTF2_CollectiveOp> collective_op_of(const std::string& name);

}  // namespace tare::exporters::otf2
