// Call sites as users name them for message sampling, and as choosers of theirs see them.
#pragma once

#include <cstdint>

#include "format/sample_spec.h"

namespace tare::mpi {

// Whether a frame of the call path with this number (site.h) is at one of the spec's sites. Slow: searches the
// definition log.
bool is_at_site(std::uint64_t number, const format::SampleSpec& spec) noexcept;

// A hash of that call path, from names of objects and addresses in them, or of Python files and lines in them. Equal
// in all processes and runs of the same binaries. Slow, too.
std::uint64_t key_of_site(std::uint64_t number) noexcept;

}  // namespace tare::mpi
