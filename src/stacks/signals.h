// The signal of the timers, which the program may use, too. The library exports the functions that set
// handlers (sigaction, signal and the older ones), that wait for signals, and sigpending ahead of the C library's. So a
// handler that the program sets is kept, and called for all signals but those of the timers; functions that wait for
// signals go on waiting if a timer has sent one, and so do those that change the mask as they wait (ppoll, sigsuspend);
// and a signal of a timer is not pending.
#pragma once

namespace tare::stacks {

// Sets the handler of the signal, once: signals of the timers are passed to `of_timers`, with a ucontext_t.
using OfTimers = void(void* context) noexcept;
void take_signal(OfTimers* of_timers) noexcept;

// For a forked child: no thread holds a lock.
void release_signal() noexcept;

}  // namespace tare::stacks
