#pragma once

#include "stack/unwind.h"

namespace tare::stack {

// Whether a frame has been called by a signal handler, or is one, as far as a walk up the stack shows. For rare paths:
// makes system calls. Allocates nothing.
bool is_in_signal_handler(Frame frame) noexcept;

}  // namespace tare::stack
