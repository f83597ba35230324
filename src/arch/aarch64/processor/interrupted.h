// The registers of a thread that a signal has interrupted.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace tare::processor {

inline std::uintptr_t instruction_of(const ucontext_t& at) noexcept { return at.uc_mcontext.pc; }
inline std::uintptr_t stack_of(const ucontext_t& at) noexcept { return at.uc_mcontext.sp; }
inline std::uintptr_t base_of(const ucontext_t& at) noexcept { return at.uc_mcontext.regs[29]; }
// Where a function that has not stored its return address returns to; perhaps signed (registers.h).
inline std::uintptr_t link_of(const ucontext_t& at) noexcept { return at.uc_mcontext.regs[30]; }

// Whether the thread has just made a system call: its instruction is svc #0.
inline bool is_after_system_call(const ucontext_t& at) noexcept {
  return reinterpret_cast<const std::uint32_t*>(instruction_of(at))[-1] == 0xd4000001;
}

}  // namespace tare::processor
