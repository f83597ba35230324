// The signal of the timers, which the program may use, too. The library exports the functions that set handlers
// (sigaction, signal and the older ones) ahead of the C library's. So a handler that the program sets is kept, and
// called for all signals but those of the timers. waits_for_signals.cpp exports the functions that wait.
#pragma once

#include <csignal>
#include <cstddef>

#include "stacks/timer.h"

namespace tare::stacks {

// Sets the handler of the signal, once: signals of the timers are passed to `of_timers`, with a ucontext_t.
using OfTimers = void(void* context) noexcept;
void take_signal(OfTimers* of_timers) noexcept;

// For a forked child: no thread holds a lock.
void release_signal() noexcept;

// Whether the program's setting of the signal is kept here instead. A child of vfork, which shares this memory, but not
// the handlers, sets its own.
bool is_kept(int number) noexcept;

// Whether the program handles the signal.
bool is_handled() noexcept;

inline sigset_t only_the_signal() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  return set;
}

// Of a mask, as the system takes and stores it.
inline constexpr std::size_t bytes_of_mask = _NSIG / 8;

}  // namespace tare::stacks
