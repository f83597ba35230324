// Regions and counters of a thread, for its snapshots: how often, how long, which value (format/offload_ring.h).
// Without a monitor they are only events of the trace.
#pragma once

#include "recorder/location.h"
#include "recorder/options.h"

namespace tare::monitor {

// True if the region was not open. Time of a region within itself is counted once.
bool note_span(recorder::Location& location, recorder::SpanEvent event, std::uint32_t type,
               std::uint64_t value) noexcept;

}  // namespace tare::monitor
