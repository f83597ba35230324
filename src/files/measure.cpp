#include "files/measure.h"

#include <atomic>

#include "recorder/commit_call.h"
#include "recorder/due.h"
#include "recorder/here.h"
#include "recorder/inside.h"
#include "recorder/own_process.h"
#include "recorder/weighed_call.h"
#include "stack/signal_handler.h"

namespace tare::files {

namespace {

// The first call of a thread. A signal handler may have interrupted anything, so it does not begin to record; nor does
// a child of vfork, which shares the memory of its parent.
[[gnu::cold, gnu::noinline]] recorder::Location* first_location(const stack::Frame& caller) noexcept {
  if (!recorder::is_own_process() || stack::is_in_signal_handler(caller)) return nullptr;
  return recorder::here();
}

// A call that is not measured moves positions in files.
[[gnu::cold]] stack::Thread* unseen() noexcept {
  std::atomic_ref(unseen_calls).fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace

stack::Thread* begin(Function function, const stack::Frame& caller, WorksOn on, Begun& begun) noexcept {
  if (tare_inside != 0 && stack::is_inside(caller)) return nullptr;
  recorder::Location* location = recorder::this_location;
  if (location == nullptr) [[unlikely]] {
    location = first_location(caller);
    if (location == nullptr) return unseen();
  }
  if (location->mode == recorder::Mode::paused) [[unlikely]]
    return unseen();
  if (location->counts_only) [[unlikely]] {
    recorder::count_outside(*location, static_cast<std::uint16_t>(function));
    return unseen();
  }
  auto& thread = static_cast<stack::Thread&>(*location);
  tare_inside = recorder::not_to_be_left;
  thread.begin_weighing();
  descriptor_in_call = on.descriptor;
  begun.function = function;
  begun.site = stack::site_of(thread, caller.return_address, caller.stack, caller.base);
  thread.profile.expect_row(*begun.site.rows);
  format::OtherCall& current = thread.shared().others.call;
  current.site = begun.site.number;
  const OpenFile* file = on.descriptor < 0 ? on.file : last_known_file(on.descriptor);
  current.object = entry_of(file);
  begun.enter = current.enter = recorder::now();
  current.function.store(static_cast<std::uint32_t>(function), std::memory_order_release);
  if (file == nullptr && on.descriptor >= 0) [[unlikely]] {
    // The system may not answer, if the file system is dead. Otherwise asking is not part of the call.
    current.object = entry_of(ask_of(on.descriptor, begun.enter));
    begun.enter = current.enter = recorder::now();
  }
  return &thread;
}

void end(stack::Thread& thread, const Begun& begun, std::uint64_t leave, std::uint64_t bytes,
         std::span<const std::uint64_t> arguments) noexcept {
  format::OtherCall& current = thread.shared().others.call;
  current.leave = leave;
  const auto function = static_cast<std::uint16_t>(begun.function);
  current.function.store(function | format::returned, std::memory_order_release);
  recorder::commit_call(
      thread, {function, begun.site.number, current.object, rows_of_all_files, begun.enter, leave, bytes, arguments},
      *begun.site.rows);
  recorder::end_weighing(thread, function, leave - begun.enter);
  if (leave >= thread.due) [[unlikely]]
    recorder::do_what_is_due(thread, recorder::Piece::outside, thread.shared().current.leave, leave);
}

}  // namespace tare::files
