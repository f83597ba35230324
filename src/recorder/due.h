// What a thread does now and then beside its calls, at the first call from Location::due on.
#pragma once

#include <cstdint>

#include "recorder/location.h"
#include "recorder/scheduling.h"

namespace tare::recorder {

// The thread was in `piece` from `begin` to `end`, in ticks. Reads how the operating system has scheduled it, and after
// a call looks whether a spell ends (Spells::look). It does not allocate, and keeps errno.
[[gnu::cold, gnu::noinline]] void do_what_is_due(Location& location, Piece piece, std::uint64_t begin,
                                                 std::uint64_t end) noexcept;

}  // namespace tare::recorder
