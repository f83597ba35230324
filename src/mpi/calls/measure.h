// The path of every measured call. A generated wrapper (wrappers.inc) names its function and the roles of its arguments
// (mpi/roles/), and calls measure().
#pragma once

#include <type_traits>

#include "mpi/calls/failed_call.h"
#include "mpi/calls/shared_steps.h"
#include "mpi/calls/thread.h"
#include "mpi/interposition/bypass.h"
#include "recorder/clock.h"
#include "recorder/commit.h"
#include "recorder/due.h"
#include "recorder/every_call.h"
#include "recorder/here.h"
#include "recorder/weighed_call.h"
#include "stack/inside.h"
#include "stack/site.h"

namespace tare::mpi {

// A role of arguments. A role overrides the members that it needs.
struct Role {
  // What the bytes of the call mean: recorder::Traffic.
  static constexpr unsigned traffic = recorder::no_traffic;
  // Whether the call must be measured even in a spell that only counts (recorder/spells.h), because later calls, or the
  // spells themselves, need what the role does.
  static bool is_needed(const Thread&) noexcept { return true; }
  // Before the call, outside its time: for what the call would destroy.
  void before(Thread&, recorder::Call&) noexcept {}
  // After the call, outside its time.
  void after(Thread&, recorder::Call&, int) noexcept {}
  // After the call has been added to profile and trace; `row` is its row.
  void committed(Thread&, const recorder::Call&, format::ProfileRow&, int) noexcept {}
  // Before a call that is only counted.
  void counted(Thread&) noexcept {}
  // After a call of a thread without a location, for which none of the above was called.
  static void unmeasured(int) noexcept {}
};

// The beginning of a call.
template <class... Roles>
[[gnu::always_inline]] inline void begin_call(Thread& thread, recorder::Call& call, Roles&... roles) noexcept {
  (roles.before(thread, call), ...);
  show(thread, call);
}

// Whether the result of a call is an error. MPI_SUCCESS is 0 in every ABI.
template <class Result>
constexpr bool has_failed([[maybe_unused]] Result result) noexcept {
  if constexpr (std::is_same_v<Result, int>) return result != 0;
  return false;
}

// Counts a call of a function if its result is an error.
template <class Result>
[[gnu::always_inline]] inline void count_if_failed(const Thread& thread, std::uint16_t function,
                                                   Result result) noexcept {
  if (recorder::seldom(has_failed(result))) count_failed(thread, function);
}

// The end of a call that was timed. Returns its row, which may be one of `rows`.
template <bool timed = true, class Result, class... Roles>
[[gnu::always_inline]] inline format::ProfileRow& end_call(Thread& thread, recorder::Call& call,
                                                           recorder::KnownRows& rows, [[maybe_unused]] Result result,
                                                           Roles&... roles) noexcept {
  (roles.after(thread, call, result), ...);
  format::ProfileRow& row = recorder::commit<(Roles::traffic | ... | 0U), timed>(thread, call, rows);
  (roles.committed(thread, call, row, result), ...);
  count_if_failed(thread, call.function, result);
  return row;
}

// A role that only describes a call. Nothing depends on it later.
struct Describes : Role {
  static bool is_needed(const Thread&) noexcept { return false; }
};

// Makes a call that is only counted. Calls that it leads to are not the program's.
template <Function F, class Real>
[[gnu::noinline]] auto count_only(Thread& thread, Real real) {
  thread.count_only(static_cast<std::uint16_t>(F));
  const stack::Inside inside;
  const auto result = real();
  count_if_failed(thread, static_cast<std::uint16_t>(F), result);
  if (--thread.until_check < 0) [[unlikely]]
    recorder::check_counted(thread);
  return result;
}

// A call that never waits: only some are timed.
struct TimedBySample : Describes {
  static constexpr unsigned traffic = recorder::may_be_untimed;
};

// A call that may wait: if the budget of the run does not allow to time all of them, only some are timed.
struct TimedUnlessThinned : Describes {
  static constexpr unsigned traffic = recorder::may_be_thinned;
};

// Makes and ends a call that has begun and is not timed.
template <Function F, class Real, class... Roles>
[[gnu::always_inline]] inline auto finish_untimed(Thread& thread, recorder::Call& call, recorder::KnownRows& rows,
                                                  Real real, Roles&... roles) {
  format::CurrentCall& current = thread.shared().current;
  --rows.untimed;
  call.enter = call.leave = 0;
  ++current.leave;  // so that enter < leave, the sign of an untimed call (format/current_call.h)
  std::uint64_t ticks = 0;
  if (thread.weighing.is_under_way()) [[unlikely]]
    ticks = recorder::now();
  const auto result = real();
  if (thread.weighing.is_under_way()) [[unlikely]]
    ticks = recorder::now() - ticks;
  current.function.store(static_cast<std::uint32_t>(F) | format::returned, std::memory_order_release);
  end_call<false>(thread, call, rows, result, roles...);
  if (thread.weighing.is_under_way()) [[unlikely]]
    recorder::note_weight_of_untimed(thread, ticks, recorder::now());
  if (thread.due == 0) [[unlikely]]
    recorder::look_after_untimed(thread);
  return result;
}

// The same, kept out of the code of timed calls.
template <Function F, class Real, class... Roles>
[[gnu::noinline]] auto finish_thinned(Thread& thread, recorder::Call& call, recorder::KnownRows& rows, Real real,
                                      Roles&... roles) {
  return finish_untimed<F>(thread, call, rows, real, roles...);
}

// What a role does, once for all functions that have it.
template <class Role>
[[gnu::noinline]] void before_apart(Role& role, Thread& thread, recorder::Call& call) noexcept {
  role.before(thread, call);
}
template <class Role>
[[gnu::noinline]] void after_apart(Role& role, Thread& thread, recorder::Call& call, int result) noexcept {
  role.after(thread, call, result);
}
template <class Role>
[[gnu::noinline]] void committed_apart(Role& role, Thread& thread, const recorder::Call& call, format::ProfileRow& row,
                                       int result) noexcept {
  role.committed(thread, call, row, result);
}

// A call of MPI with its arguments, whichever function it is of.
template <class Result>
struct RealCall {
  Result (*make)(const void* arguments);
  const void* arguments;
};
template <class Real>
auto make_real(const void* arguments) {
  return (*static_cast<const Real*>(arguments))();
}

// The steps of a measured call, once for all functions that have the same roles.
template <class Result, class... Roles>
[[gnu::noinline]] Result measure_by_shared_steps(Function function, const stack::Frame& caller, RealCall<Result> real,
                                                 Roles&... roles) {
  auto* const thread = static_cast<Thread*>(recorder::here());
  const bool counts = thread != nullptr && thread->counts_only && !(roles.is_needed(*thread) || ... || false);
  if (counts) (roles.counted(*thread), ...);
  const stack::Inside inside;
  recorder::Call call;
  call.function = static_cast<std::uint16_t>(function);
  recorder::KnownRows* const rows = begin_or_count(thread, counts, call, caller);
  constexpr unsigned traffic = (Roles::traffic | ... | 0U);
  constexpr bool may_be_untimed = (traffic & (recorder::may_be_untimed | recorder::may_be_thinned)) != 0;
  [[maybe_unused]] bool is_untimed = false;
  if (rows != nullptr) {
    (before_apart(roles, *thread, call), ...);
    if constexpr (may_be_untimed) is_untimed = start_untimed(*thread, call, *rows);
    if (!is_untimed) start(*thread, call);
  }
  const Result result = real.make(real.arguments);
  if (rows == nullptr) {
    if (thread != nullptr)
      end_counted(*thread, call.function, has_failed(result));
    else if constexpr (std::is_same_v<Result, int>)
      (Roles::unmeasured(result), ...);
    return result;
  }
  if constexpr (may_be_untimed)
    if (is_untimed) {
      const std::uint64_t ticks = stop_untimed(*thread, call);
      (after_apart(roles, *thread, call, result), ...);
      [[maybe_unused]] format::ProfileRow& row = recorder::commit_any<traffic, false>(*thread, call, *rows);
      (committed_apart(roles, *thread, call, row, result), ...);
      end_untimed(*thread, call, ticks, has_failed(result));
      return result;
    }
  call.leave = recorder::now();
  stop(*thread, call);
  (after_apart(roles, *thread, call, result), ...);
  [[maybe_unused]] format::ProfileRow& row = recorder::commit_any<traffic, true>(*thread, call, *rows);
  (committed_apart(roles, *thread, call, row, result), ...);
  if constexpr ((traffic & recorder::may_be_untimed) != 0)
    thread->choose_untimed(*rows, row);
  else if constexpr (may_be_untimed)
    thread->choose_if_brief(*rows, row);
  end(*thread, call, has_failed(result));
  return result;
}

// Measures real(), a call of the function F made in the frame `caller` (TARE_CALLER).
template <Function F, class Real, class... Roles>
[[gnu::always_inline]] inline auto measure(const stack::Frame& caller, Real real, Roles&... roles) {
  recorder::Location* location = recorder::here();
  if (recorder::seldom(location == nullptr)) {
    const stack::Inside inside;
    const auto result = real();
    if constexpr (std::is_same_v<decltype(result), const int>) (Roles::unmeasured(result), ...);
    return result;
  }
  auto& thread = static_cast<Thread&>(*location);
  if (thread.counts_only) [[unlikely]]
    if (!(roles.is_needed(thread) || ... || false)) {
      (roles.counted(thread), ...);
      return count_only<F>(thread, real);
    }
  thread.begin_weighing();
  const stack::Inside inside;
  recorder::Call call;
  call.function = static_cast<std::uint16_t>(F);
  const stack::Site site = site_of(thread, caller.return_address, caller.stack, caller.base);
  thread.profile.expect_row(*site.rows);
  call.site = site.number;
  begin_call(thread, call, roles...);
  constexpr unsigned traffic = (Roles::traffic | ... | 0U);
  constexpr bool by_sample = (traffic & recorder::may_be_untimed) != 0;
  constexpr bool may_be_thinned = (traffic & recorder::may_be_thinned) != 0;
  if constexpr (by_sample) {
    if (thread.need_not_be_timed(*site.rows)) [[likely]]
      return finish_untimed<F>(thread, call, *site.rows, real, roles...);
  } else if constexpr (may_be_thinned) {
    if (recorder::seldom(thread.need_not_be_timed(*site.rows)))
      return finish_thinned<F>(thread, call, *site.rows, real, roles...);
  }
  format::CurrentCall& current = thread.shared().current;
  call.enter = current.enter = recorder::now();
  if (recorder::seldom(call.enter >= thread.due)) {
    recorder::do_what_is_due(thread, recorder::Piece::outside, current.leave, call.enter);
    call.enter = current.enter = recorder::now();
  }
  const auto result = real();
  call.leave = recorder::now();
  current.leave = call.leave;
  current.function.store(static_cast<std::uint32_t>(F) | format::returned, std::memory_order_release);
  [[maybe_unused]] const format::ProfileRow& row = end_call(thread, call, *site.rows, result, roles...);
  if constexpr (by_sample) thread.choose_untimed(*site.rows, row);
  if constexpr (may_be_thinned) thread.choose_if_brief(*site.rows, row);
  recorder::end_weighing(thread, call.function, call.leave - call.enter);
  if (recorder::seldom(call.leave >= thread.due))
    recorder::do_what_is_due(thread, recorder::Piece::in_call, call.enter, call.leave);
  return result;
}

// The same of a function that is not frequent. Most are not: with all steps in each, the library would have twice as
// much code.
template <Function F, class Real, class... Roles>
[[gnu::always_inline]] inline auto measure_apart(const stack::Frame& caller, Real real, Roles&... roles) {
  return measure_by_shared_steps<decltype(real())>(F, caller, {&make_real<Real>, &real}, roles...);
}

// Counts a call of a look-up function, unless a binding made it for itself.
[[gnu::always_inline]] inline void count_call(Function function, stack::Caller kind, void* return_address) noexcept {
  if (stack::is_own_call_of_binding(kind, return_address)) [[unlikely]]
    return;
  recorder::Location* location = recorder::here();
  if (location != nullptr && location->mode != recorder::Mode::paused)
    ++location->shared().lookups[static_cast<unsigned>(function)];
}

// Counts and makes a call of a look-up function. `is_whole`: further calls that it leads to are part of it.
template <Function F, stack::Caller kind, bool is_whole, class Real>
[[gnu::always_inline]] inline auto counted(void* return_address, Real real) {
  count_call(F, kind, return_address);
  if constexpr (is_whole) {
    const stack::Inside inside;
    return real();
  } else {
    return real();
  }
}

// The function below this library, with the type of the wrapper.
template <class R, class... P>
auto real(R (*)(P...), Function function) noexcept {
  return below<R(P...)>(function);
}

}  // namespace tare::mpi
