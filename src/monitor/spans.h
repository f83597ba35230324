// Regions and counters of a thread, for its snapshots: how often, how long, what value (format/offload_ring.h). Without
// a monitor they are events of the trace alone.
#pragma once

#include "recorder/location.h"
#include "recorder/options.h"

namespace tare::monitor {

// True if a region has been entered that was not open. The time of a region within itself is counted once.
bool note_span(recorder::Location& location, recorder::SpanEvent event, std::uint32_t type,
               std::uint64_t value) noexcept;

}  // namespace tare::monitor
