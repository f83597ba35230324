#include "stack/signal_handler.h"

#include <cstring>

#include "processor/signal_return.h"
#include "recorder/errno_guard.h"
#include "recorder/system.h"

namespace tare::stack {
namespace {

constexpr std::uintptr_t page = 4096;
constexpr unsigned max_steps_of_signal = 64;

// The memory from `low` on that may be read, up to 64 KiB. The extent of the stack is not looked up, because that may
// allocate memory.
Stack readable_from(std::uintptr_t low) noexcept {
  constexpr unsigned max_pages = 16;
  std::uintptr_t high = low & ~(page - 1);
  for (unsigned i = 0; i < max_pages && recorder::is_readable(high); ++i) high += page;
  return {low, high};
}

bool returns_from_signal(std::uintptr_t code) noexcept {
  constexpr std::size_t bytes = sizeof processor::signal_return;
  return recorder::is_readable(code & ~std::uintptr_t{7}) && recorder::is_readable((code + bytes - 1) & ~(page - 1)) &&
         std::memcmp(reinterpret_cast<const void*>(code), processor::signal_return, bytes) == 0;
}

}  // namespace

bool is_in_signal_handler(Frame frame) noexcept {
  const recorder::ErrnoGuard guard;
  const Stack stack = readable_from(frame.stack);
  for (unsigned steps = 0; steps < max_steps_of_signal; ++steps) {
    if (returns_from_signal(frame.return_address)) return true;
    Step read;
    // Not recipe_of(), which remembers in which kind of object the code lies: those may not be known yet.
    if (!step(work_out(frame.return_address), stack, frame, read)) return false;
  }
  return false;
}

}  // namespace tare::stack
