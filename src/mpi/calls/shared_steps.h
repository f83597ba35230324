// The steps of a measured call that do not depend on its function. Most functions share this code; the frequent ones
// have it in their wrappers (measure.h).
#pragma once

#include "mpi/calls/thread.h"
#include "recorder/call.h"
#include "stack/unwind.h"

namespace tare::mpi {

// From now on other threads and processes see what this thread is in.
[[gnu::always_inline]] inline void show(Thread& thread, const recorder::Call& call) noexcept {
  format::CurrentCall& current = thread.shared().current;
  current.site = call.site;
  current.peer = call.peer;
  current.tag = call.tag;
  current.communicator_number = call.communicator;
  current.function.store(call.function, std::memory_order_release);
}

// Begins a call of a function from the frame `caller`, and returns the rows of its call site; nullptr if the call is
// not measured, because the thread has no location (nullptr), or `counts` this call only.
recorder::KnownRows* begin_or_count(Thread* thread, bool counts, recorder::Call& call,
                                    const stack::Frame& caller) noexcept;

// After a call that was counted only.
void end_counted(Thread& thread, std::uint16_t function, bool has_failed) noexcept;

// Directly before a measured call of MPI. Sets Call::enter.
void start(Thread& thread, recorder::Call& call) noexcept;

// After it; Call::leave is known.
void stop(Thread& thread, const recorder::Call& call) noexcept;

// The same three of a call that need not be timed: start_untimed() says whether it is one, and does nothing if not.
// stop_untimed() returns what its wrapper is weighed with: ticks, or 0.
bool start_untimed(Thread& thread, recorder::Call& call, recorder::KnownRows& rows) noexcept;
std::uint64_t stop_untimed(Thread& thread, recorder::Call& call) noexcept;
void end_untimed(Thread& thread, const recorder::Call& call, std::uint64_t ticks, bool has_failed) noexcept;

// After the call has been committed.
void end(Thread& thread, const recorder::Call& call, bool has_failed) noexcept;

}  // namespace tare::mpi
