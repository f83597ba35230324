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

void end(Thread& thread, const recorder::Call& call, bool has_failed) noexcept {
  if (recorder::seldom(has_failed)) count_failed(thread, call.function);
  recorder::end_weighing(thread, call.function, call.leave - call.enter);
  if (recorder::seldom(call.leave >= thread.due))
    recorder::do_what_is_due(thread, recorder::Piece::in_call, call.enter, call.leave);
}

}  // namespace tare::mpi
