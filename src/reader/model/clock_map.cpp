#include "reader/model/clock_map.h"

#include <algorithm>
#include <ctime>

#include "processor/counter.h"

namespace tare::reader {
namespace {

using format::ClockPair;

// Pairs that are closer do not give an accurate rate, because reading a pair takes some 50 ns.
constexpr std::uint64_t min_gap_ns = 1'000'000;
// Valid rates, in ns for each tick: clocks of 20 MHz to 20 GHz.
constexpr double min_rate = 0.05;
constexpr double max_rate = 50;

// a - b with its sign, also where it does not fit into a signed integer of 64 bits.
double difference(std::uint64_t a, std::uint64_t b) {
  return a >= b ? static_cast<double>(a - b) : -static_cast<double>(b - a);
}

double rate_between(const ClockPair& a, const ClockPair& b) {
  return difference(b.monotonic_ns, a.monotonic_ns) / difference(b.ticks, a.ticks);
}

bool fits_behind(const ClockPair& before, const ClockPair& pair) {
  if (pair.ticks <= before.ticks || pair.monotonic_ns < before.monotonic_ns + min_gap_ns) return false;
  const double rate = rate_between(before, pair);
  return rate >= min_rate && rate <= max_rate;
}

std::uint64_t monotonic_raw_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

ClockPair read_clock(format::ClockKind kind) {
  if (kind == format::ClockKind::monotonic_raw) {
    const std::uint64_t now = monotonic_raw_ns();
    return {now, now};
  }
  const std::uint64_t before = processor::read_counter();
  const std::uint64_t now = monotonic_raw_ns();
  return {before + (processor::read_counter() - before) / 2, now};
}

ClockMap::ClockMap(const ClockPair& start, std::uint64_t realtime_start_ns, std::vector<ClockPair> pairs,
                   double default_rate)
    : realtime_offset_(static_cast<std::int64_t>(realtime_start_ns - start.monotonic_ns)), rate_(default_rate) {
  std::sort(pairs.begin(), pairs.end(), [](const ClockPair& a, const ClockPair& b) { return a.ticks < b.ticks; });
  pairs_.push_back(start);
  for (const ClockPair& pair : pairs)
    if (fits_behind(pairs_.back(), pair)) pairs_.push_back(pair);
  measured_ = pairs_.size() > 1;
  if (measured_) rate_ = rate_between(pairs_.front(), pairs_.back());
}

std::int64_t ClockMap::LinearPiece::unix_ns(std::uint64_t ticks) const {
  return static_cast<std::int64_t>(origin +
                                   static_cast<std::uint64_t>(rounded_ns(difference(ticks, from.ticks) * rate)));
}

ClockMap::LinearPiece ClockMap::piece_at(std::uint64_t ticks) const {
  const auto behind = [](std::uint64_t t, const ClockPair& pair) { return t < pair.ticks; };
  const auto after = std::upper_bound(pairs_.begin(), pairs_.end(), ticks, behind);
  const bool is_first = after == pairs_.begin(), is_last = after == pairs_.end();
  const ClockPair& from = is_first ? *after : *std::prev(after);
  return {is_first ? 0 : from.ticks, is_last ? UINT64_MAX : after->ticks, from,
          static_cast<std::uint64_t>(realtime_offset_) + from.monotonic_ns,
          is_first || is_last ? rate_ : rate_between(from, *after)};
}

std::int64_t ClockMap::unix_ns(std::uint64_t ticks) const {
  return pairs_.empty() ? 0 : piece_at(ticks).unix_ns(ticks);
}

void ClockMap::unix_ns(const std::uint64_t* ticks, std::size_t count, std::int64_t* ns) const {
  if (pairs_.empty()) {
    std::fill_n(ns, count, 0);
    return;
  }
  for (std::size_t i = 0; i < count;) {
    const LinearPiece piece = piece_at(ticks[i]);
    do ns[i] = piece.unix_ns(ticks[i]);
    while (++i < count && ticks[i] >= piece.begin && ticks[i] < piece.end);
  }
}

}  // namespace tare::reader
