// What is known of profiles of some sizes, told for others.
#pragma once

#include <cstdint>

#include "format/sweet_spot.h"

namespace tare::monitor {

// Of profiles of `events` events; 0: of the size that the program's have now. Between two sizes whose BOI is known,
// values are on a straight line of their logarithms, as times grow by powers of the size. Beyond them no BOI is known.
format::SweetSpot spot_of(const format::SweetSpots& known, std::uint32_t events) noexcept;

}  // namespace tare::monitor
