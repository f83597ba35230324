// Takes the stack samples of this process.
#pragma once

#include "recorder/location.h"

namespace tare::stacks {

// Samples of the thread are taken from now on, until it ends.
void begin_thread(recorder::Location& location) noexcept;
void end_thread() noexcept;
// Where calls are only counted, as in the spells that a trial compares with the others (recorder/spells.h), there are
// no samples either.
void change_depth(const recorder::Location& location) noexcept;
// In a forked child.
void begin_child() noexcept;

}  // namespace tare::stacks
