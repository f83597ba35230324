#include "recorder/event_cost.h"

#include <algorithm>
#include <atomic>

#include "recorder/locations.h"
#include "recorder/segment.h"

namespace tare::recorder {
namespace {

constexpr std::uint64_t batches = 12;
constexpr std::uint64_t steps = 64;
constexpr std::uint32_t undefined_type = UINT32_MAX;

// Not inlined, because the functions of the API are called from elsewhere, too.
[[gnu::noinline]] void record_one(std::uint64_t value) noexcept {
  Location* location = this_location;
  if (!location->events.has_room(EventBuffer::event_bytes(1))) return;
  location->events.append_event(undefined_type, now(), &value, 1);
}

// The ticks of the fastest batch.
std::uint64_t cheapest_batch(Location& location) noexcept {
  location.has_made_room(steps * EventBuffer::event_bytes(1));
  const EventBuffer::Mark begin = location.events.mark();
  std::uint64_t best = UINT64_MAX;
  for (std::uint64_t batch = 0; batch < batches; ++batch) {
    location.events.rewind(begin);
    const std::uint64_t start = now();
    for (std::uint64_t i = 0; i < steps; ++i) record_one(i);
    best = std::min(best, now() - start);
  }
  location.events.rewind(begin);
  return best;
}

}  // namespace

void measure_event_cost(Location& location) noexcept {
  format::SegmentHeader* header = segment();
  if (header == nullptr || !location.traced() || this_location != &location) return;
  const std::atomic_ref<std::uint32_t> cost_ps(header->process.event_cost_ps);
  std::uint32_t unknown = 0;
  if (!cost_ps.compare_exchange_strong(unknown, 1, std::memory_order_relaxed)) return;
  const format::ClockPair before = read_clock_pair();
  const std::uint64_t ticks = cheapest_batch(location);
  const format::ClockPair after = read_clock_pair();
  const double ns_per_tick =
      static_cast<double>(after.monotonic_ns - before.monotonic_ns) / static_cast<double>(after.ticks - before.ticks);
  cost_ps.store(static_cast<std::uint32_t>(1000.0 * ns_per_tick * static_cast<double>(ticks) / steps),
                std::memory_order_relaxed);
}

}  // namespace tare::recorder
