// The path of a poll. It is that of every measured call (measure.h), but shorter for polls that find nothing (polls.h).
#pragma once

#include "mpi/calls/measure.h"

namespace tare::mpi {

// The end of a poll of the function F that has begun (begin_call) without being timed. Other threads and processes see
// only that it has returned.
template <Function F>
recorder::Call begun_poll(const Thread& thread) noexcept {
  const format::CurrentCall& current = thread.shared().current;
  recorder::Call call;
  call.function = static_cast<std::uint16_t>(F);
  call.site = current.site;
  call.peer = current.peer;
  call.tag = current.tag;
  call.communicator = current.communicator_number;
  return call;
}

// Makes and ends a poll that has begun and is timed. `skips`: the next polls of its site need not be timed.
template <class A, bool skips, class Real, class IsIdle, class... Roles>
[[gnu::always_inline]] inline int finish_timed_poll(Thread& thread, const stack::Frame& caller, recorder::Call& call,
                                                    recorder::KnownRows& rows, Real real, IsIdle is_idle,
                                                    Roles&... roles) {
  format::CurrentCall& current = thread.shared().current;
  const std::uint64_t last = current.leave;
  std::uint64_t now = recorder::now();
  if (now >= thread.due) [[unlikely]] {
    recorder::do_what_is_due(thread, recorder::Piece::outside, last, now);
    now = recorder::now();
  }
  call.enter = current.enter = thread.polls.begin(thread, last, now);
  const int result = real();
  current.function.store(call.function | format::returned, std::memory_order_release);
  const bool idle = result == A::success && is_idle();
  call.leave = current.leave = recorder::now();
  format::ProfileRow& row = end_call(thread, call, rows, result, roles...);
  if (thread.mode == recorder::Mode::paused) return result;
  thread.polls.end(thread, call, idle);
  if (skips && !thread.traced()) thread.polls.note(thread, thread.paths, caller, call, row, idle, last, now);
  recorder::end_weighing(thread, call.function, call.leave - now);
  if (call.leave >= thread.due) [[unlikely]]
    recorder::do_what_is_due(thread, recorder::Piece::in_call, call.enter, call.leave);
  return result;
}

// Makes a poll that is timed whatever it finds.
template <class A, Function F, bool skips = true, class Real, class IsIdle, class... Roles>
[[gnu::noinline]] int timed_poll(Thread& thread, const stack::Frame caller, Real real, IsIdle is_idle,
                                 Roles&... roles) {
  const stack::Inside inside;
  recorder::Call call;
  call.function = static_cast<std::uint16_t>(F);
  const stack::Site site = site_of(thread, caller.return_address, caller.stack, caller.base);
  call.site = site.number;
  begin_call(thread, call, roles...);
  return finish_timed_poll<A, skips>(thread, caller, call, *site.rows, real, is_idle, roles...);
}

// The same for a poll that has begun as if it were not timed.
template <class A, Function F, class Real, class IsIdle, class... Roles>
[[gnu::noinline, gnu::cold]] int timed_after_all(Thread& thread, const stack::Frame caller, Real real, IsIdle is_idle,
                                                 Roles&... roles) {
  const stack::Inside inside;
  recorder::Call call = begun_poll<F>(thread);
  return finish_timed_poll<A, true>(thread, caller, call, thread.any_rows, real, is_idle, roles...);
}

// The rest of a poll that was not timed but found something.
template <Function F, class... Roles>
[[gnu::noinline, gnu::cold]] void end_untimed_poll(Thread& thread, Polls::Site& site, int result,
                                                   Roles&... roles) noexcept {
  recorder::Call call = begun_poll<F>(thread);
  const std::uint64_t last = thread.shared().current.leave;
  call.leave = thread.shared().current.leave = recorder::now();
  call.enter = thread.shared().current.enter = site.estimated_enter(call.leave);
  format::ProfileRow& row = end_call(thread, call, thread.any_rows, result, roles...);
  ++row.estimated;
  thread.polls.end_streak(thread, site, call, last);
}

// Measures real(), a call of the function F made in the frame `caller` (TARE_CALLER). is_idle() says whether a
// successful call found nothing. With a trace, all polls are timed.
template <class A, Function F, class Real, class IsIdle, class... Roles>
[[gnu::always_inline]] inline int poll(const stack::Frame& caller, Real real, IsIdle is_idle, Roles&... roles) {
  recorder::Location* location = recorder::here();
  if (location == nullptr) [[unlikely]] {
    const stack::Inside inside;
    return real();
  }
  auto& thread = static_cast<Thread&>(*location);
  if (thread.counts_only) [[unlikely]] {
    if (!(roles.is_needed(thread) || ... || false)) {
      ++thread.counted_polls;
      return count_only<F>(thread, real);
    }
  }
  thread.begin_weighing();
  const std::uint64_t key = Polls::key_of(caller.return_address, static_cast<std::uint16_t>(F));
  Polls::Site& site = thread.polls.site(key);
  if (!site.has_skips(key, caller)) return timed_poll<A, F>(thread, caller, real, is_idle, roles...);
  recorder::Call call;
  call.function = static_cast<std::uint16_t>(F);
  call.site = site.number;
  begin_call(thread, call, roles...);
  if (call.communicator != site.communicator) [[unlikely]]
    return timed_after_all<A, F>(thread, caller, real, is_idle, roles...);
  const stack::Inside inside;
  std::uint64_t ticks = 0;
  if (thread.weighing.is_under_way()) [[unlikely]]
    ticks = recorder::now();
  const int result = real();
  if (thread.weighing.is_under_way()) [[unlikely]]
    ticks = recorder::now() - ticks;
  thread.shared().current.function.store(static_cast<std::uint32_t>(F) | format::returned, std::memory_order_release);
  if (result == A::success && is_idle()) [[likely]] {
    site.skip();
    if (thread.mode == recorder::Mode::in_phase) [[unlikely]]
      ++thread.phases.current->calls;
  } else {
    end_untimed_poll<F>(thread, site, result, roles...);
  }
  if (thread.weighing.is_under_way()) [[unlikely]]
    recorder::note_weight_of_untimed(thread, ticks, recorder::now());
  return result;
}

// The same if a role must act before and after polls that find nothing, too. All are timed.
template <class A, Function F, class Real, class IsIdle, class... Roles>
[[gnu::always_inline]] inline int acting_poll(const stack::Frame& caller, Real real, IsIdle is_idle, Roles&... roles) {
  recorder::Location* location = recorder::here();
  if (location == nullptr) [[unlikely]] {
    const stack::Inside inside;
    return real();
  }
  auto& thread = static_cast<Thread&>(*location);
  thread.begin_weighing();
  return timed_poll<A, F, false>(thread, caller, real, is_idle, roles...);
}

}  // namespace tare::mpi
