#include "stack/inside.h"

#include <unwind.h>

#include "recorder/locations.h"
#include "recorder/sources.h"
#include "recorder/system.h"
#include "stack/own_code.h"
#include "stack/thread.h"

extern "C" {
// The personality routine of frames that measure. It calls no function of the unwinder, which may be another one than
// ours.
[[gnu::visibility("hidden")]] _Unwind_Reason_Code tare_left(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                                            _Unwind_Exception*, _Unwind_Context*) noexcept {
  if ((actions & _UA_CLEANUP_PHASE) != 0) tare::stack::leave();
  return _URC_CONTINUE_UNWIND;
}
}

namespace tare::stack {
namespace {

// The least stack that a call of MPI needs below the calling frame. So memory that near belongs to the same stack.
constexpr std::uintptr_t stack_of_call = 4096;

constexpr unsigned max_steps_inside = 256;

// What is known of the frame that covers an address of the stack, further up than the frame `from`.
enum class Owner : std::uint8_t { wrapper, other, unknown };

// Reads only between that frame and `high`.
Owner owner_of(std::uintptr_t address, Frame from, std::uintptr_t high) noexcept {
  const Stack stack{from.stack, high};
  bool has_left_us = false;  // a wrapper has called MPI, which has called this frame
  for (unsigned steps = 0; steps < max_steps_inside; ++steps) {
    const std::uintptr_t code = from.return_address;
    const Recipe recipe = recipe_of(code);
    has_left_us = has_left_us || !is_own_code(code);
    Step read;
    std::uintptr_t end = 0;
    if (!find_end(recipe, stack, from, read, end)) return Owner::unknown;
    if (end > address) return has_left_us && is_own_code(code) ? Owner::wrapper : Owner::other;
    if (!step(recipe, stack, from, read)) return Owner::unknown;
  }
  return Owner::unknown;
}

// Whether two addresses may lie on one stack of unknown extent: all memory in between is readable.
bool may_be_one_stack(std::uintptr_t low, std::uintptr_t high) noexcept {
  constexpr std::uintptr_t page = 4096;
  constexpr std::uintptr_t most = 256 * page;
  if (high - low > most) return false;
  for (std::uintptr_t at = low & ~(page - 1); at <= high; at += page)
    if (!recorder::is_readable(at)) return false;
  return true;
}

bool is_intact(std::uintptr_t object) noexcept { return *reinterpret_cast<const std::uintptr_t*>(object) == object; }

bool is_there(std::uintptr_t object, const Stack& own, const Frame& caller) noexcept {
  const bool on_own = own.holds(object);
  const bool both_on_own = on_own && own.holds(caller.stack);
  if (caller.stack > object && (both_on_own || caller.stack - object < stack_of_call)) return false;
  if (!on_own && !recorder::is_readable(object)) return false;
  if (!is_intact(object)) return false;
  const bool walkable = both_on_own || (caller.stack < object && on_own == own.holds(caller.stack) &&
                                        may_be_one_stack(caller.stack, object));
  const std::uintptr_t high = both_on_own ? own.high : object + sizeof object;
  return !walkable || owner_of(object, caller, high) != Owner::other;
}

}  // namespace

void leave() noexcept {
  if (tare_inside == 0 || tare_inside == recorder::not_to_be_left) return;
  const recorder::ErrnoGuard guard;
  tare_inside = recorder::not_to_be_left;
  if (recorder::this_location != nullptr) recorder::tell_sources<&recorder::Source::left>(*recorder::this_location);
  tare_inside = 0;
}

bool is_inside(const Frame& caller) noexcept {
  if (tare_inside == 0) return false;
  if (tare_inside == recorder::not_to_be_left) return true;
  const recorder::ErrnoGuard guard;
  const auto* thread = static_cast<const Thread*>(recorder::this_location);
  if (is_there(tare_inside, thread == nullptr ? Stack{} : thread->stack, caller)) return true;
  leave();
  return false;
}

}  // namespace tare::stack
