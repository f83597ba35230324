#pragma once

#include "recorder/source.h"

namespace tare::stacks {

// Stacks as a source: where threads are each time that they have used a processor for 10 ms more. Locations are
// stack::Threads.
extern const recorder::Source source;

}  // namespace tare::stacks
