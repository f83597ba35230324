// What is known about profiles of any size, from the sizes that are known.
#pragma once

#include <cstdint>

#include "format/sweet_spot.h"

namespace tare::monitor {

// Values for profiles of `events` events; 0: of the size that the program's profiles have now. Between two known sizes,
// the logarithms of values are interpolated linearly, because times grow by powers of the size. Below the smallest and
// above the largest known size, no BOI is known.
format::SweetSpot spot_of(const format::SweetSpots& known, std::uint32_t events) noexcept;

}  // namespace tare::monitor
