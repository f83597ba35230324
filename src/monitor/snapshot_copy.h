// What snapshots contain of a location (format/offload_ring.h): its regions and counters are noted, and its present
// values copied. Without a monitor, regions and counters are only events of the trace.
#pragma once

#include <cstdint>

#include "recorder/location.h"
#include "recorder/options.h"

namespace tare::monitor {

// Notes how often, how long, or which value. True if the region was not open. Time of a region within itself is counted
// once.
bool note_span(recorder::Location& location, recorder::SpanEvent event, std::uint32_t type,
               std::uint64_t value) noexcept;

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
