// Call sites as users name them for message sampling.
#pragma once

#include <cstdint>

#include "format/sample_spec.h"

namespace tare::mpi {

// Whether a frame of the call path with this number (site.h) is at one of the spec's sites. Slow: searches the
// definition log.
bool is_at_site(std::uint64_t number, const format::SampleSpec& spec) noexcept;

}  // namespace tare::mpi
