#include "recorder/weighed_call.h"

#include "format/function_meaning.h"
#include "recorder/errno_guard.h"
#include "recorder/inside.h"
#include "recorder/spells.h"

namespace tare::recorder {

void note_weight(Location& location, std::uint16_t function, std::uint64_t ticks, std::uint64_t end) noexcept {
  const format::FunctionMeaning& meaning = format::meaning_of(function);
  // The wrappers' time in MPI_Init and MPI_Finalize counts as hook time.
  if (meaning.bounds_net_time()) {
    location.weighing.weigh_next();
    return;
  }
  const auto kind = static_cast<unsigned>(meaning.kind);
  location.weighing.end_call(location.shared().weighed, kind, ticks, location.shared().summary.flush_ticks, end);
  if (spells.has_budget()) [[unlikely]]
    spells.check(location, end, location.weighing.own);
}

void note_weight_of_untimed(Location& location, std::uint64_t ticks, std::uint64_t end) noexcept {
  location.weighing.end_untimed_call(location.shared().weighed, format::untimed, ticks,
                                     location.shared().summary.flush_ticks, end);
  if (spells.has_budget()) [[unlikely]]
    spells.check(location, end, location.weighing.own);
}

void look_after_untimed(Location& location) noexcept { spells.look(location, now()); }

void check_counted(Location& location) noexcept {
  location.until_check = Spells::calls_between_checks - 1;
  const std::uint64_t time = now();
  if (spells.has_budget()) spells.check(location, time, 0);
  spells.look(location, time);
}

void count_outside(Location& location, std::uint16_t function) noexcept {
  location.count_only(function);
  if (location.counted_calls % Spells::calls_between_checks != 0 || !spells.has_budget()) return;
  const ErrnoGuard guard;
  const OwnCode own;
  spells.check(location, now(), 0);
}

}  // namespace tare::recorder
