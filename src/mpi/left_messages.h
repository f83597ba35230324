// What the sampler of messages is told of a call that was left (inside.h).
#pragma once

#include "mpi/thread.h"

namespace tare::mpi {

// Nobody knows whether the call that the thread was in has sent or received its message, nor the numbers of those
// behind it. `function`: that call; what it was about still stands in the thread's CurrentCall.
void lose_messages(Thread& thread, Function function) noexcept;

}  // namespace tare::mpi
