// The state of online monitoring that the path of a call reads (src/monitor).
#pragma once

#include <atomic>
#include <cstdint>

namespace tare::recorder {

// Ticks from which on the next call that ends is an offload point, which the clock makes; UINT64_MAX: it makes none,
// and no thread is `watched`. Calls of those that are in another mode look, too (src/monitor/timer.h).
[[gnu::visibility("hidden")]] extern constinit std::atomic<std::uint64_t> offload_due;

// Whether an event of the API needs nothing but a reading of the processor's counter and a record.
[[gnu::visibility("hidden")]] extern constinit bool records_plainly;

}  // namespace tare::recorder
