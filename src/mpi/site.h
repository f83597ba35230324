// Call sites: where in the program an MPI function was called from.
//
// A call site is a call path (call_path.h), numbered in order of first call and defined in the definition log before
// that call is made. Where mpi4py has made the call, the path is in Python code (python_frame.h).
#pragma once

#include <cstdint>

#include "mpi/thread.h"
#include "mpi/unwind.h"

namespace tare::mpi {

struct Site {
  std::uint32_t number;       // 0 if there is no more room for sites
  recorder::KnownRows* rows;  // those of its calls, as long as the thread remembers the way to it
};

// The call site of a call made in the frame that these registers are of. (Words, so that they are passed in registers.)
[[gnu::hot]] Site site_of(Thread& thread, std::uintptr_t return_address, std::uintptr_t stack,
                          std::uintptr_t base) noexcept;

// All ones, or 0: with return addresses alone (--stack 1) the stack pointer does not matter for a path.
[[gnu::visibility("hidden")]] extern std::uintptr_t stack_matters;

// A caller as paths are remembered by it.
inline Frame masked(const Frame& caller) noexcept {
  return {caller.return_address, caller.stack & stack_matters, caller.base};
}

// Has a thread forget what it remembers; numbers stay.
void forget_paths(Thread& thread) noexcept;

// The span of addresses that holds all bindings loaded; empty in most programs.
struct BindingSpan {
  std::uintptr_t low;
  std::uintptr_t bytes;
};
[[gnu::visibility("hidden")]] extern BindingSpan binding_span;

// What a look-up function is called for: bindings convert handles for every call that they pass on.
enum class Caller : std::uint8_t { asks, converts };
[[gnu::cold]] bool binding_calls_itself(Caller kind, std::uintptr_t address) noexcept;

// Whether a look-up was made by a binding for itself, not for the program.
[[gnu::always_inline]] inline bool is_own_call_of_binding(Caller kind, void* return_address) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  return address - binding_span.low < binding_span.bytes && binding_calls_itself(kind, address);
}

// Looks for bindings among the modules loaded now. Idempotent.
void notice_modules() noexcept;

// As `tare run --stack` says. Before the first call.
void choose_paths() noexcept;

// A thread begins (recorder::Options::started).
void begin_paths(recorder::Location& location) noexcept;

// Forgets what was defined: a forked child defines anew.
void forget_sites() noexcept;

}  // namespace tare::mpi
