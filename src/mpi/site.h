// Call sites: where in the program an MPI function was called from.
//
// A call site is the return address of the call. Where the caller is a language binding, which says nothing
// about the program, the address is replaced: for Fortran by the return address in the binding's caller
// (unwind.h), for mpi4py by the position in the Python code (python_frame.h). Which addresses belong to
// bindings is known by module, so that other calls pay one comparison.
#pragma once

#include <cstdint>

namespace tare::mpi {

// The span of addresses that holds all bindings loaded; empty in most programs.
struct BindingSpan {
  std::uintptr_t low;
  std::uintptr_t bytes;
};
[[gnu::visibility("hidden")]] extern BindingSpan binding_span;

// What stands for the caller of a binding at `address`, called by a wrapper whose frame is `frame`.
[[gnu::cold]] std::uint64_t see_through(std::uintptr_t address, void* frame) noexcept;

[[gnu::always_inline]] inline std::uint64_t call_address(void* return_address, void* frame) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  if (address - binding_span.low < binding_span.bytes) [[unlikely]]
    return see_through(address, frame);
  return address;
}

// What a look-up function is called for: bindings convert handles for every call that they pass on.
enum class Caller : std::uint8_t { asks, converts };
[[gnu::cold]] bool binding_calls_itself(Caller kind, std::uintptr_t address) noexcept;

// Whether a look-up was made by a binding for itself, not for the program.
[[gnu::always_inline]] inline bool is_own_call_of_binding(Caller kind, void* return_address) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  return address - binding_span.low < binding_span.bytes && binding_calls_itself(kind, address);
}

// Number of the call site of an address (recorder::Options::site_of); defines it at its first call.
std::uint32_t site_of(std::uint64_t address) noexcept;

// Looks for bindings among the modules loaded now. Idempotent.
void notice_modules() noexcept;

// Forgets what was defined: a forked child defines anew.
void forget_sites() noexcept;

}  // namespace tare::mpi
