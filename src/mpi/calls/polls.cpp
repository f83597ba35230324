#include "mpi/calls/polls.h"

#include <algorithm>
#include <cstring>

#include "recorder/clock.h"
#include "stack/masked_frame.h"

namespace tare::mpi {

bool Polls::settle(recorder::Location& location, const Site& site, std::uint64_t ticks, std::uint64_t last,
                   std::uint64_t time) const noexcept {
  const std::uint32_t pending = site.pending();
  if (pending == 0) return true;
  const std::uint64_t elapsed = time - site.leave;
  const std::uint64_t cycle = site.cycles == 0 ? 0 : site.cycle_ticks / site.cycles;
  const bool is_all = last == site.leave && elapsed < pending * cycle + quick_ticks_;
  const std::uint64_t likely = std::max(ticks, cycle);
  const std::uint64_t all = is_all ? elapsed : std::min(pending * (likely - std::min(likely, clock_ticks_)), elapsed);
  const std::uint64_t each = all / pending;
  format::ProfileRow& row = *site.row;
  row.ticks += all;
  row.ticks_min = std::min(row.ticks_min, each);
  row.ticks_max = std::max(row.ticks_max, each);
  row.ticks_squared += static_cast<double>(pending) * static_cast<double>(each * each);
  row.histogram[format::duration_bin(each)] += pending;
  if (location.mode == recorder::Mode::in_phase)
    location.phases.current->mpi_ticks += std::min(all, time - location.shared().summary.phase_since);
  return is_all;
}

void Polls::note(recorder::Location& location, stack::PathMemo& paths, const stack::Frame& caller,
                 const recorder::Call& call, format::ProfileRow& row, bool is_idle, std::uint64_t last,
                 std::uint64_t now) noexcept {
  const std::uint64_t key = key_of(caller.return_address, call.function);
  Site& at = site(key);
  if (skipping_ != nullptr && skipping_ != &at) {
    settle(location, *skipping_, skipping_->idle_ticks, last, now);
    skipping_->streak = 0;
    skipping_->allow(0);
    skipping_ = nullptr;
  }
  const std::uint64_t ticks = call.leave - now;
  const bool same = at.key == key && at.row == &row && at.number == call.site && at.communicator == call.communicator &&
                    at.conditions.holds(caller);
  const bool is_all = settle(location, at, same && is_idle ? ticks : at.idle_ticks, last, now);
  if (!same) {
    if (skipping_ == &at) skipping_ = nullptr;
    at = {};
    last_ = nullptr;
    if (!paths.conditions_of(stack::masked(caller), at.conditions)) return;
    at.conditions.stack = caller.stack;
    at.key = key;
    at.row = &row;
    at.number = call.site;
    at.communicator = call.communicator;
  }
  const bool has_found = at.streak == period - few;  // the time in between is what the program did with it
  const std::uint64_t cycle = call.leave - at.leave;
  const bool follows = last_ == &at && last == at.leave;
  const bool quick = has_found || (follows && is_all && cycle < quick_ticks_ * (at.streak == period ? period : 1));
  if (!quick) {
    at.cycles = at.cycle_ticks = 0;
  } else if (follows && at.streak != period && !has_found) {
    ++at.cycles;
    at.cycle_ticks += cycle;
  }
  if (is_idle)
    at.streak = quick ? std::min(at.streak + 1, period) : 0;
  else
    at.streak = at.streak >= period - few ? period - few : 0;
  at.allow(at.streak == period ? period - 1 : 0);
  skipping_ = at.streak == period ? &at : nullptr;
  last_ = &at;
  at.leave = call.leave;
  (is_idle ? at.idle_ticks : at.found_ticks) = ticks;
}

void Polls::end_streak(recorder::Location& location, Site& site, const recorder::Call& call,
                       std::uint64_t last) noexcept {
  settle(location, site, site.idle_ticks, last, call.enter);
  site.streak = period - few;
  site.allow(0);
  site.leave = call.leave;
  skipping_ = nullptr;
  last_ = &site;
}

// Pending polls get their time when the next one is timed.
void Polls::end_streaks() noexcept {
  for (Site& site : sites_) site.skips = 0;
  idle_leave_ = 0;
}

void Polls::clear(std::uint64_t clock_ticks) noexcept {
  std::memset(sites_, 0, sizeof sites_);
  skipping_ = nullptr;
  last_ = nullptr;
  idle_leave_ = idle_head_ = 0;
  quick_ticks_ = recorder::about_ticks(gap_ns);
  clock_ticks_ = clock_ticks;
}

}  // namespace tare::mpi
