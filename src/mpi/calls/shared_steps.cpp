#include "mpi/calls/shared_steps.h"

#include "mpi/calls/failed_call.h"
#include "recorder/clock.h"
#include "recorder/due.h"
#include "recorder/every_call.h"
#include "recorder/weighed_call.h"
#include "stack/site.h"

namespace tare::mpi {

recorder::KnownRows* begin_or_count(Thread* thread, bool counts, recorder::Call& call,
                                    const stack::Frame& caller) noexcept {
  if (thread == nullptr) return nullptr;
  if (counts) {
    thread->count_only(call.function);
    return nullptr;
  }
  thread->begin_weighing();
  const stack::Site site = stack::site_of(*thread, caller.return_address, caller.stack, caller.base);
  thread->profile.expect_row(*site.rows);
  call.site = site.number;
  return site.rows;
}

void end_counted(Thread& thread, std::uint16_t function, bool has_failed) noexcept {
  if (has_failed) count_failed(thread, function);
  if (--thread.until_check < 0) recorder::check_counted(thread);
}

void start(Thread& thread, recorder::Call& call) noexcept {
  show(thread, call);
  format::CurrentCall& current = thread.shared().current;
  call.enter = current.enter = recorder::now();
  if (recorder::seldom(call.enter >= thread.due)) {
    recorder::do_what_is_due(thread, recorder::Piece::outside, current.leave, call.enter);
    call.enter = current.enter = recorder::now();
  }
}

void stop(Thread& thread, const recorder::Call& call) noexcept {
  format::CurrentCall& current = thread.shared().current;
  current.leave = call.leave;
  current.function.store(static_cast<std::uint32_t>(call.function) | format::returned, std::memory_order_release);
}

bool start_untimed(Thread& thread, recorder::Call& call, recorder::KnownRows& rows) noexcept {
  if (!thread.need_not_be_timed(rows)) return false;
  show(thread, call);
  --rows.untimed;
  ++thread.shared().current.leave;  // so that enter < leave, the sign of an untimed call (format/current_call.h)
  call.enter = thread.weighing.is_under_way() ? recorder::now() : 0;
  return true;
}

std::uint64_t stop_untimed(Thread& thread, recorder::Call& call) noexcept {
  const std::uint64_t ticks = thread.weighing.is_under_way() ? recorder::now() - call.enter : 0;
  call.enter = call.leave = 0;
  thread.shared().current.function.store(static_cast<std::uint32_t>(call.function) | format::returned,
                                         std::memory_order_release);
  return ticks;
}

void end_untimed(Thread& thread, const recorder::Call& call, std::uint64_t ticks, bool has_failed) noexcept {
  if (recorder::seldom(has_failed)) count_failed(thread, call.function);
  if (thread.weighing.is_under_way()) recorder::note_weight_of_untimed(thread, ticks, recorder::now());
  if (thread.due == 0) recorder::look_after_untimed(thread);
}

void end(Thread& thread, const recorder::Call& call, bool has_failed) noexcept {
  if (recorder::seldom(has_failed)) count_failed(thread, call.function);
  recorder::end_weighing(thread, call.function, call.leave - call.enter);
  if (recorder::seldom(call.leave >= thread.due))
    recorder::do_what_is_due(thread, recorder::Piece::in_call, call.enter, call.leave);
}

}  // namespace tare::mpi
