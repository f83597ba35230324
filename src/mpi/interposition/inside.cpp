#include "mpi/interposition/inside.h"

#include <unwind.h>

#include "mpi/calls/thread.h"
#include "mpi/interposition/library.h"
#include "mpi/objects/left_messages.h"
#include "mpi/objects/requests.h"
#include "recorder/clock.h"
#include "recorder/commit.h"
#include "recorder/locations.h"
#include "recorder/process_end.h"
#include "recorder/segment.h"
#include "recorder/system.h"

extern "C" {
// The personality routine of frames that measure. It calls no function of the unwinder, which may be another one than
// ours.
[[gnu::visibility("hidden")]] _Unwind_Reason_Code tare_left(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                                            _Unwind_Exception*, _Unwind_Context*) noexcept {
  if ((actions & _UA_CLEANUP_PHASE) != 0) tare::mpi::leave();
  return _URC_CONTINUE_UNWIND;
}
}

namespace tare::mpi {
namespace {

// The least stack that a call of MPI needs below the calling frame. So memory that near belongs to the same stack.
constexpr std::uintptr_t stack_of_call = 4096;

constexpr unsigned max_steps = 256;

// What is known of the frame that covers an address of the stack, further up than the frame `from`.
enum class Owner : std::uint8_t { wrapper, other, unknown };

// Reads only between that frame and `high`.
Owner owner_of(std::uintptr_t address, stack::Frame from, std::uintptr_t high) noexcept {
  const stack::Stack stack{from.stack, high};
  bool has_left_us = false;  // a wrapper has called MPI, which has called this frame
  for (unsigned steps = 0; steps < max_steps; ++steps) {
    const std::uintptr_t code = from.return_address;
    const stack::Recipe recipe = stack::recipe_of(code);
    has_left_us = has_left_us || !is_own_code(code);
    stack::Step read;
    std::uintptr_t end = 0;
    if (!stack::find_end(recipe, stack, from, read, end)) return Owner::unknown;
    if (end > address) return has_left_us && is_own_code(code) ? Owner::wrapper : Owner::other;
    if (!stack::step(recipe, stack, from, read)) return Owner::unknown;
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

bool is_there(std::uintptr_t object, const stack::Stack& own, const stack::Frame& caller) noexcept {
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

void count_left() noexcept {
  if (auto* segment = recorder::segment())
    std::atomic_ref(segment->process.left_calls).fetch_add(1, std::memory_order_relaxed);
}

// The thread does not wait any more.
void stop_waiting(const Thread& thread) noexcept {
  if (requests.count() == 0) return;
  const std::uint32_t waiter = thread.shared().block + 1;
  requests.for_each([&](Request& entry) {
    if (entry.waiter == waiter) entry.waiter = 0;
  });
}

// Records the call that a thread has begun, as far as it is known. What it has moved is not known.
void record_left(Thread& thread) noexcept {
  format::CurrentCall& current = thread.shared().current;
  const std::uint32_t function = current.function.load(std::memory_order_relaxed);
  if (function == 0 || (function & format::returned) != 0) return;  // not begun yet, or recorded already
  const bool untimed = current.enter < current.leave;               // a poll (polls.h)
  recorder::Call call;
  call.function = static_cast<std::uint16_t>(function);
  call.site = current.site;
  call.peer = current.peer;
  call.tag = current.tag;
  call.communicator = current.communicator_number;
  call.leave = recorder::now();
  call.enter = untimed ? call.leave : current.enter;
  current.leave = call.leave;
  lose_messages(thread, static_cast<Function>(function));
  current.source = format::no_peer;
  current.source_tag = format::no_tag;
  current.function.store(function | format::returned, std::memory_order_release);
  stop_waiting(thread);
  format::ProfileRow& row = recorder::commit(thread, call);
  if (thread.mode == recorder::Mode::paused) return;
  if (untimed) ++row.estimated;
  count_left();
}

}  // namespace

void leave() noexcept {
  if (tare_inside == 0 || tare_inside == not_to_be_left) return;
  const recorder::ErrnoGuard guard;
  if (recorder::this_location != nullptr) record_left(static_cast<Thread&>(*recorder::this_location));
  tare_inside = 0;
}

// The call that contains it will not return, either.
void begins_inside(format::Function function) noexcept {
  if (function == format::Function::MPI_Abort) recorder::note_abort();
}

bool is_inside(const stack::Frame& caller) noexcept {
  if (tare_inside == 0) return false;
  if (tare_inside == not_to_be_left) return true;
  const recorder::ErrnoGuard guard;
  const auto* thread = static_cast<const Thread*>(recorder::this_location);
  if (is_there(tare_inside, thread == nullptr ? stack::Stack{} : thread->stack, caller)) return true;
  leave();
  return false;
}

}  // namespace tare::mpi
