// Results that cannot be written to the run directory stay where they are.
#pragma once

#include "format/segment.h"

namespace tare::recorder {

// Says so on stderr, in the first process of the node that calls it: at which directory, why (`error`: errno; 0: not
// known), and what brings them. For a process whose segment nobody collects.
void tell_kept(const format::SegmentHeader& segment, int error) noexcept;

}  // namespace tare::recorder
