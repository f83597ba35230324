// Call sites as the user names them for message sampling.
#pragma once

#include <cstdint>

#include "format/sample_spec.h"

namespace tare::mpi {

// Whether a frame of the call path of that number (site.h) is at the place. Reads the definition log: slow.
bool is_at_site(std::uint64_t number, const format::SampleSpec::Site& place) noexcept;

}  // namespace tare::mpi
