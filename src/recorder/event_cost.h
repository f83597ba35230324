// The cost of recording an event of the API on this machine, for the cost account. It is measured once in a process.
#pragma once

#include "recorder/location.h"

namespace tare::recorder {

// Measures the cost on the location of this thread, and restores the location. Does nothing if the cost is known or
// there is no trace. Takes some ten microseconds.
void measure_event_cost(Location& location) noexcept;

}  // namespace tare::recorder
