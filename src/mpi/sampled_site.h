// Call sites as the user names them for message sampling.
#pragma once

#include <cstdint>

#include "format/sample_spec.h"

namespace tare::mpi {

// Whether a frame of the call path of that number (site.h) is at one of the spec's sites. Reads the definition log:
// slow.
bool is_at_site(std::uint64_t number, const format::SampleSpec& spec) noexcept;

}  // namespace tare::mpi
