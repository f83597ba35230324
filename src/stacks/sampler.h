// Takes the stack samples of this process.
#pragma once

#include "recorder/location.h"

namespace tare::stacks {

// Samples of the thread are taken from now on, until it ends.
void begin_thread(recorder::Location& location) noexcept;
void end_thread() noexcept;
// In a forked child.
void begin_child() noexcept;

}  // namespace tare::stacks
