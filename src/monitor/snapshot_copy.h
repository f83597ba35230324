// Copies the present values of a location for a snapshot (format/offload_ring.h).
#pragma once

#include <cstdint>

#include "recorder/location.h"

namespace tare::monitor {

// How much of a location there is to copy. Tables only grow.
struct Extent {
  std::uint32_t rows, phases, spans;

  std::uint64_t bytes() const noexcept {
    return sizeof(format::SectionHead) + (std::uint64_t{rows} + phases + spans) * sizeof(format::Sums);
  }
};
Extent extent_of(const recorder::Location& location) noexcept;

// Writes a SectionHead and its sums to `out`; returns their end. Another thread may own the location and go on
// recording: each number was correct at some moment of the copy, and none is torn.
char* copy_section(const recorder::Location& location, const Extent& extent, std::uint64_t ticks, char* out) noexcept;

}  // namespace tare::monitor
