#include "monitor/cadence.h"

#include <algorithm>
#include <cmath>

namespace tare::monitor {

using format::SweetSpot;

namespace {

SweetSpot between(const SweetSpot& low, const SweetSpot& high, std::uint32_t events) noexcept {
  const auto log_of = [](std::uint32_t size) { return std::log(static_cast<double>(size)); };
  const double share = (log_of(events) - log_of(low.events)) / (log_of(high.events) - log_of(low.events));
  const auto time = [share](double from, double to) {
    if (from < 0 || to < 0) return -1.0;
    if (from == 0 || to == 0) return from + share * (to - from);
    return from * std::pow(to / from, share);
  };
  return {events,
          low.is_bound | high.is_bound,
          format::SpotSource::interpolated,
          0,
          time(low.boi_ns, high.boi_ns),
          time(low.boi_spread_ns, high.boi_spread_ns),
          time(low.rest_ns, high.rest_ns),
          time(low.rest_deviation_ns, high.rest_deviation_ns),
          time(low.delay_ns, high.delay_ns),
          time(low.delay_deviation_ns, high.delay_deviation_ns),
          time(low.direct_ns, high.direct_ns)};
}

}  // namespace

SweetSpot spot_of(const format::SweetSpots& known, std::uint32_t events) noexcept {
  if (events == 0) events = known.events;
  SweetSpot found;
  found.events = events;
  if (events == 0) return found;
  const SweetSpot* low = nullptr;
  const SweetSpot* high = nullptr;
  const std::uint32_t count = std::min(known.count, format::SweetSpots::most);
  for (std::uint32_t i = 0; i < count && high == nullptr; ++i) {
    const SweetSpot& spot = known.of[i];
    const bool is_known = spot.events != 0 && spot.boi_ns >= 0;
    if (spot.events == events) found = spot;
    if (!is_known) continue;
    if (spot.events < events) low = &spot;
    if (spot.events > events) high = &spot;
  }
  if (found.boi_ns >= 0 || low == nullptr || high == nullptr) return found;
  SweetSpot between_them = between(*low, *high, events);
  if (found.delay_ns >= 0) {  // of rounds of this size
    between_them.delay_ns = found.delay_ns;
    between_them.delay_deviation_ns = found.delay_deviation_ns;
  }
  return between_them;
}

}  // namespace tare::monitor
