// What the message sampler must know about a call that was left (inside.h).
#pragma once

#include "mpi/calls/thread.h"

namespace tare::mpi {

// Whether the call that the thread was in has sent or received its message is not known, so later numbers are not,
// either. `function`: that call. Its arguments still stand in the thread's CurrentCall.
void lose_messages(Thread& thread, Function function) noexcept;

}  // namespace tare::mpi
