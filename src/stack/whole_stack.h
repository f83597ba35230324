// The whole stack of a thread at any instruction, as stack samples have it.
#pragma once

#include <cstdint>

#include "stack/unwind.h"

namespace tare::stack {

// Registers of a thread that a signal has interrupted.
struct Interrupted {
  std::uintptr_t instruction;
  std::uintptr_t stack;
  std::uintptr_t base;
  std::uintptr_t
      link;  // where a function that has not stored its return address returns to; 0: processors without that
};

struct WholeStack {
  std::uint32_t site;  // 0: there is no room for it
  bool is_cut;         // it continues, but cannot be walked further, or has more than format::max_stack_frames
};

// The number of the stack (site_numbers.h) of this thread, which a signal has interrupted outside tare's own code.
// Frames of the C library and of tare that only start the program or a thread are left out. Above the frames of a
// Python interpreter, it continues with those of the Python code.
WholeStack whole_stack(const Interrupted& at, const Stack& stack) noexcept;

}  // namespace tare::stack
