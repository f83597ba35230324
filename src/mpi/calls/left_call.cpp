#include "mpi/calls/left_call.h"

#include "format/function_meaning.h"
#include "mpi/calls/thread.h"
#include "mpi/objects/left_messages.h"
#include "mpi/objects/requests.h"
#include "mpi/sampling/sampler.h"
#include "recorder/clock.h"
#include "recorder/commit.h"
#include "recorder/process_end.h"
#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::mpi {
namespace {

void count_left() noexcept {
  if (auto* segment = recorder::segment())
    std::atomic_ref(segment->process.left_calls).fetch_add(1, std::memory_order_relaxed);
}

// The thread does not wait any more.
void stop_waiting(const Thread& thread) noexcept {
  if (requests.count() == 0) return;
  const std::uint32_t waiter = thread.block + 1;
  requests.for_each([&](Request& entry) {
    if (entry.waiter == waiter) entry.waiter = 0;
  });
}

// Whether other ranks take part in what such a call does, or it completes what they have. (Callbacks free communicators
// that belong to attributes, which moves nothing; MPI_Abort is noted by itself.)
bool others_take_part(format::Function function) noexcept {
  using format::CallClass;
  const format::FunctionMeaning& meaning = format::meaning_of(static_cast<unsigned>(function));
  if (meaning.frees_communicator) return false;
  switch (meaning.kind) {
    case CallClass::local:
    case CallClass::lookup:
    case CallClass::lifecycle:
    case CallClass::request:
    case CallClass::file:
      return false;
    default:
      return true;
  }
}

void note_callback() noexcept {
  auto* segment = recorder::segment();
  if (segment == nullptr) return;
  const recorder::ErrnoGuard guard;
  std::uint64_t none = 0;
  std::atomic_ref(segment->process.callbacks_since).compare_exchange_strong(none, recorder::now());
  if (std::atomic_ref(segment->process.callback_calls).fetch_add(1, std::memory_order_relaxed) == 0 &&
      sampling::sampler.active())
    sampling::sampler.lose_numbers();
}

}  // namespace

void record_left(recorder::Location& location) noexcept {
  auto& thread = static_cast<Thread&>(location);
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

void begins_inside(format::Function function, bool in_callback) noexcept {
  if (function == format::Function::MPI_Abort) recorder::note_abort();  // the other call will not return, either
  if (in_callback && others_take_part(function)) note_callback();
}

}  // namespace tare::mpi
