// The location of the thread that asks. A thread gets it at its first event.
#pragma once

#include "recorder/locations.h"

namespace tare::recorder {

// Starts a location for this thread; nullptr if recording is impossible (no run, no memory), now and for good.
[[gnu::cold]] Location* start_location() noexcept;

inline Location* here() noexcept {
  Location* location = this_location;
  return location != nullptr ? location : start_location();
}

}  // namespace tare::recorder
