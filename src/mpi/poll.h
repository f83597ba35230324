// The path of a poll: as that of every measured call (measure.h), but shorter where polls find nothing (polls.h).
#pragma once

#include "mpi/measure.h"

namespace tare::mpi {

// What follows a poll that is timed.
template <class... Roles>
[[gnu::always_inline]] inline void end_poll(Thread& thread, const Frame& caller, recorder::Call& call, int result,
                                            bool in_vain, Roles&... roles) noexcept {
  call.leave = thread.shared->current.leave = recorder::now();
  format::ProfileRow& row = end_call(thread, call, result, roles...);
  if (thread.traced() || thread.mode == recorder::Mode::paused) return;
  thread.polls.note(thread, thread.paths, caller, call, row, in_vain);
}

// The rest of a poll that was not timed, but found something.
template <class... Roles>
[[gnu::noinline, gnu::cold]] void end_untimed_poll(Thread& thread, Polls::Site& site, recorder::Call call, int result,
                                                   Roles&... roles) noexcept {
  call.leave = thread.shared->current.leave = recorder::now();
  call.enter = thread.shared->current.enter = site.estimated_enter(call.leave);
  format::ProfileRow& row = end_call(thread, call, result, roles...);
  ++row.estimated;
  thread.polls.end_streak(thread, site, call);
}

// A poll that is timed whatever it finds.
template <class A, Function F, class Real, class InVain, class... Roles>
[[gnu::noinline]] int timed_poll(Thread& thread, const Frame caller, Real real, InVain in_vain, Roles&... roles) {
  const Inside inside;
  recorder::Call call;
  call.function = static_cast<std::uint16_t>(F);
  call.site = site_of(thread, caller.return_address, caller.stack, caller.base);
  begin_call(thread, call, roles...);
  call.enter = thread.shared->current.enter = recorder::now();
  const int result = real();
  thread.shared->current.function.store(static_cast<std::uint32_t>(F) | format::returned, std::memory_order_release);
  end_poll(thread, caller, call, result, result == A::success && in_vain(), roles...);
  return result;
}

// Measures real(), a call of the function F that was made in `caller` (TARE_CALLER); in_vain() says of one that has
// succeeded whether it found nothing. With a trace all are timed.
template <class A, Function F, class Real, class InVain, class... Roles>
[[gnu::always_inline]] inline int poll(const Frame& caller, Real real, InVain in_vain, Roles&... roles) {
  recorder::Location* location = recorder::here();
  if (location == nullptr) [[unlikely]]
    return real();
  auto& thread = static_cast<Thread&>(*location);
  constexpr auto function = static_cast<std::uint16_t>(F);
  Polls::Site& site = thread.polls.site(caller.return_address, function);
  if (!site.has_skips(caller.return_address, function) || !thread.paths.is_at(site.path, masked(caller)) ||
      thread.mode == recorder::Mode::paused)
    return timed_poll<A, F>(thread, caller, real, in_vain, roles...);
  recorder::Call call;
  call.function = function;
  call.site = site.number;
  begin_call(thread, call, roles...);
  if (call.communicator != site.communicator) [[unlikely]]
    return timed_poll<A, F>(thread, caller, real, in_vain, roles...);
  const Inside inside;
  const int result = real();
  thread.shared->current.function.store(static_cast<std::uint32_t>(F) | format::returned, std::memory_order_release);
  if (result == A::success && in_vain()) [[likely]] {
    site.skip();
    if (thread.mode == recorder::Mode::in_phase) [[unlikely]]
      ++thread.phase->calls;
  } else {
    end_untimed_poll(thread, site, call, result, roles...);
  }
  return result;
}

}  // namespace tare::mpi
