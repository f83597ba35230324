// The end of a weighed call (recorder/account/weighing.h): what its wrapper took is added to the cost account, and the
// governor of a run with a budget looks at it (recorder/spells.h).
#pragma once

#include <cstdint>

#include "recorder/location.h"

namespace tare::recorder {

// Not said to be cold, which would move the calls of it away. `end`: of the wrapper.
[[gnu::noinline]] void note_weight(Location& location, std::uint16_t function, std::uint64_t ticks,
                                   std::uint64_t end) noexcept;
// The same for a call that is not timed otherwise.
[[gnu::cold]] void note_weight_of_untimed(Location& location, std::uint64_t ticks, std::uint64_t end) noexcept;

// What the wrapper of a timed call ends with. `ticks`: that the MPI function took.
[[gnu::always_inline]] inline void end_weighing(Location& location, std::uint16_t function,
                                                std::uint64_t ticks) noexcept {
  // The reading lies on the way of all calls: code that only weighed calls come to is not in the caches, and fetching
  // it would be taken for a cost of the wrapper.
  if (__builtin_expect_with_probability(static_cast<long>(location.weighing.is_under_way()), 1, 0.5) != 0)
    note_weight(location, function, ticks, now());
}

// After a call that was not timed, of a thread of which every call is looked at (Location::due is 0).
[[gnu::cold, gnu::noinline]] void look_after_untimed(Location& location) noexcept;

// Called now and then by a thread that only counts, after a call (Location::until_check): checks whether it may record
// more, and whether its spell has ended (Spells::check, Spells::look).
[[gnu::cold, gnu::noinline]] void check_counted(Location& location) noexcept;

// Counts a call of a source other than MPI. No spell ends with one, but a process that has no spells may record more.
[[gnu::cold, gnu::noinline]] void count_outside(Location& location, std::uint16_t function) noexcept;

}  // namespace tare::recorder
