#include "mpi/polls.h"

#include <algorithm>
#include <cstring>

#include "mpi/site.h"
#include "recorder/clock.h"

namespace tare::mpi {

void Polls::settle(recorder::Location& location, const Site& site, std::uint64_t ticks,
                   std::uint64_t time) const noexcept {
  const std::uint32_t pending = site.pending();
  if (pending == 0) return;
  const std::uint64_t all = std::min(pending * (ticks - std::min(ticks, clock_ticks_)), time - site.leave);
  const std::uint64_t each = all / pending;
  format::ProfileRow& row = *site.row;
  row.ticks += all;
  row.ticks_min = std::min(row.ticks_min, each);
  row.ticks_squared += static_cast<double>(pending) * static_cast<double>(each * each);
  row.histogram[format::duration_bin(each)] += pending;
  if (location.mode == recorder::Mode::in_phase)
    location.phase->mpi_ticks += std::min(all, time - location.shared->summary.phase_since);
}

void Polls::note(recorder::Location& location, PathMemo& paths, const Frame& caller, const recorder::Call& call,
                 format::ProfileRow& row, bool in_vain) noexcept {
  const std::uint64_t key = key_of(caller.return_address, call.function);
  Site& at = site(key);
  const std::uint64_t ticks = call.leave - call.enter;
  const bool same = at.key == key && at.row == &row && at.number == call.site && at.communicator == call.communicator &&
                    at.proof.holds(caller);
  settle(location, at, same && in_vain ? ticks : at.vain_ticks, call.enter);
  if (!same) {
    at = {};
    if (!paths.prove(masked(caller), at.proof)) return;
    at.proof.stack = caller.stack;
    at.key = key;
    at.row = &row;
    at.number = call.site;
    at.communicator = call.communicator;
  }
  const bool has_found = at.streak == period - few;  // what the program did with it takes its time
  const bool quick = has_found || call.leave - at.leave < quick_ticks_ * (at.streak == period ? period : 1);
  if (in_vain)
    at.streak = quick ? std::min(at.streak + 1, period) : 0;
  else
    at.streak = at.streak >= period - few ? period - few : 0;
  at.allow(at.streak == period ? period - 1 : 0);
  at.leave = call.leave;
  (in_vain ? at.vain_ticks : at.found_ticks) = ticks;
}

void Polls::end_streak(recorder::Location& location, Site& site, const recorder::Call& call) const noexcept {
  settle(location, site, site.vain_ticks, call.enter);
  site.streak = period - few;
  site.allow(0);
  site.leave = call.leave;
}

// What is pending is settled when the next one is timed.
void Polls::forget() noexcept {
  for (Site& site : sites_) site.skips = 0;
}

void Polls::clear() noexcept {
  std::memset(sites_, 0, sizeof sites_);
  quick_ticks_ = std::uint64_t{1024} << recorder::tick_shift();  // about a microsecond
  clock_ticks_ = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t start = recorder::now();
    clock_ticks_ = std::min(clock_ticks_, recorder::now() - start);
  }
}

}  // namespace tare::mpi
