// Call sites: where in the program a function of a source of events was called from.
//
// A call site is a call path (call_path.h), numbered in order of first call and defined in the definition log before
// that call is made. Where mpi4py or the interpreter has made the call, the path is in Python code (python_frame.h).
#pragma once

#include <cstdint>

#include "stack/masked_frame.h"
#include "stack/thread.h"
#include "stack/unwind.h"

namespace tare::stack {

struct Site {
  std::uint32_t number;       // 0 if there is no more room for sites
  recorder::KnownRows* rows;  // the profile rows of its calls; valid as long as the thread remembers the path
};

// The call site of a call from the frame with these registers. They are words, so that they are passed in registers.
[[gnu::hot]] Site site_of(Thread& thread, std::uintptr_t return_address, std::uintptr_t stack,
                          std::uintptr_t base) noexcept;

// The range of addresses that contains all loaded language bindings; empty in most programs.
struct BindingSpan {
  std::uintptr_t low;
  std::uintptr_t bytes;
};
[[gnu::visibility("hidden")]] extern BindingSpan binding_span;

// The purpose of a look-up function: `asks` for information, or `converts` a handle, as bindings do for every call that
// they pass on.
enum class Caller : std::uint8_t { asks, converts };
[[gnu::cold]] bool binding_calls_itself(Caller kind, std::uintptr_t address) noexcept;

// Whether a look-up was made by a binding for itself, not for the program.
[[gnu::always_inline]] inline bool is_own_call_of_binding(Caller kind, void* return_address) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  return address - binding_span.low < binding_span.bytes && binding_calls_itself(kind, address);
}

// Searches the loaded modules for language bindings. Idempotent.
void notice_modules() noexcept;

// Applies `tare run --stack`. Must be called before the first call that is measured.
void choose_paths() noexcept;

// A thread begins. It remembers no paths; the numbers of sites stay valid.
void begin_paths(Thread& thread) noexcept;

// Removes all sites and frames. For a forked child, which has to define them again.
void reset_sites() noexcept;

}  // namespace tare::stack
