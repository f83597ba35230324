// Steps up the stack of a thread, by recipes (recipe.h). Reads only that stack. So a wrong or missing table ends a
// walk, and cannot harm the program.
#pragma once

#include <cstdint>

#include "stack/recipe.h"

namespace tare::stack {

// Registers of a function's frame, at a call that it has made.
struct Frame {
  std::uintptr_t return_address;  // where execution continues in this frame
  std::uintptr_t stack;           // stack pointer there
  std::uintptr_t base;            // frame pointer register there
};

// The stack of a thread: memory that exists as long as the thread does.
struct Stack {
  std::uintptr_t low;
  std::uintptr_t high;  // one past the end

  bool holds(std::uintptr_t address) const noexcept { return address - low < high - low; }
};

// The stack of this thread; empty if it is not known. Makes system calls and may allocate memory, once for each thread.
Stack stack_of_thread() noexcept;

// A word of the stack and the value that was read.
struct Word {
  std::uintptr_t address;
  std::uintptr_t value;
};

// What a step has read. The same words give the same step.
struct Step {
  Word return_address;
  Word base;  // address 0: the frame pointer is the same in the caller
  Word cfa;   // address 0: computed, not read
  bool needs_base;
};

// The CFA of a frame: the stack pointer of its caller, where the frame ends. False if the recipe cannot be used.
bool find_end(const Recipe& recipe, const Stack& stack, const Frame& frame, Step& read, std::uintptr_t& cfa) noexcept;

// Moves `frame` to its caller. False, and nothing moved, if the recipe cannot be used or leads off the stack.
bool step(const Recipe& recipe, const Stack& stack, Frame& frame, Step& read) noexcept;

inline Frame frame_of_caller(void* return_address, void* cfa, void* frame_address) noexcept {
  return {reinterpret_cast<std::uintptr_t>(return_address), reinterpret_cast<std::uintptr_t>(cfa),
          *static_cast<std::uintptr_t*>(frame_address)};
}

}  // namespace tare::stack

// The frame that has called the function in which this is used. A macro, because the built-ins refer to that function.
#define TARE_CALLER \
  ::tare::stack::frame_of_caller(__builtin_return_address(0), __builtin_dwarf_cfa(), __builtin_frame_address(0))
