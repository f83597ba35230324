// What a snapshot holds of a location, copied as it is at the moment (format/offload_ring.h).
#pragma once

#include <cstdint>

#include "recorder/location.h"

namespace tare::monitor {

// How much of a location there is to copy. The tables only grow.
struct Extent {
  std::uint32_t rows, phases, spans;

  std::uint64_t bytes() const noexcept {
    return sizeof(format::SectionHead) + (std::uint64_t{rows} + phases + spans) * sizeof(format::Sums);
  }
};
Extent extent_of(const recorder::Location& location) noexcept;

// Puts a SectionHead and its sums at `out`; returns what is behind them. The location may be another thread's, which
// goes on meanwhile: each number is right at some moment of the copy, and none is torn.
char* copy_section(const recorder::Location& location, const Extent& extent, std::uint64_t ticks, char* out) noexcept;

}  // namespace tare::monitor
