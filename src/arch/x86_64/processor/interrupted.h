// The registers of a thread that a signal has interrupted.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace tare::processor {

inline std::uintptr_t instruction_of(const ucontext_t& at) noexcept {
  return static_cast<std::uintptr_t>(at.uc_mcontext.gregs[REG_RIP]);
}
inline std::uintptr_t stack_of(const ucontext_t& at) noexcept {
  return static_cast<std::uintptr_t>(at.uc_mcontext.gregs[REG_RSP]);
}
inline std::uintptr_t base_of(const ucontext_t& at) noexcept {
  return static_cast<std::uintptr_t>(at.uc_mcontext.gregs[REG_RBP]);
}
// Where a function that has not stored its return address returns to: it is always stored.
inline std::uintptr_t link_of(const ucontext_t&) noexcept { return 0; }

// Whether the thread has just made a system call: its instruction is 0f 05.
inline bool is_after_system_call(const ucontext_t& at) noexcept {
  const auto* next = reinterpret_cast<const unsigned char*>(instruction_of(at));
  return next[-2] == 0x0f && next[-1] == 0x05;
}

}  // namespace tare::processor
