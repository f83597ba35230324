// A timer of a thread's processor time, which sends the thread a signal.
#pragma once

#include <csignal>
#include <cstdint>

namespace tare::stacks {

// By default, the system ignores the signal that the timers send, so it harms no program: neither one that takes back
// the handler, nor one that is executed while it is pending. Programs seldom use it, and their own handler is called as
// before (signals.h).
inline constexpr int signal_number = SIGURG;

// The timer of this thread begins: the signal is sent each time that the thread has used a processor for `interval_ns`
// more. False if the system has no more timers. A thread has one timer at most.
bool begin_timer(std::uint64_t interval_ns) noexcept;
// The next signal is sent after `interval_ns` from now, and so on.
void change_timer(std::uint64_t interval_ns) noexcept;
void end_timer() noexcept;
bool has_timer() noexcept;
// The timer stands still until it is resumed; both may be called again without an effect.
void pause_timer() noexcept;
void resume_timer() noexcept;
// The processor time of this thread since its timer began or this was called before, without pauses.
std::uint64_t ns_since_last() noexcept;
// For a forked child, which has inherited no timer.
void forget_timer() noexcept;
// From now on no timer of this process, or of a forked child, sends its signal. They measure as before.
void silence_timers() noexcept;

// Whether a timer has sent this signal.
bool is_of_timer(const siginfo_t& info) noexcept;

}  // namespace tare::stacks
