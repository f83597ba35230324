// What the verbs of live runs show of rounds: the statistics and histograms of events.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "format/round_histogram.h"
#include "reader/store/rounds.h"

namespace tare::reader {

// The statistics of an event.
struct EventStatistics {
  RoundEvent event;
  std::array<format::Statistic, format::metric_count> metrics;  // of calls, time and bytes, as format::Metrics has them
};

// The statistics of a round. Numbers that no program can have counted, or that are none, are damage: events with such
// are left out. Of a counter that is no number, or an infinite one, nothing is known over ranks.
std::vector<EventStatistics> possible_events(const RoundNames& names, const StoredRound& round);

// Rounds of different ranks as one. Events are sorted by kind and name.
std::vector<EventStatistics> merged_events(std::span<const std::vector<EventStatistics>* const> rounds);

// A histogram with its counts.
struct Bins {
  format::Histogram histogram;
  std::vector<std::uint32_t> counts;  // by bin: number of ranks

  Bins widened(std::uint32_t exponent) const;  // to bins that are at least as wide
  bool operator==(const Bins& other) const;
};

// Histograms of several files have at most so many bins together.
inline constexpr std::size_t max_merged_bins = 4096;
// The ranks of all of them, in bins of the widest; in wider ones if they lie far apart.
Bins merged_bins(std::span<const Bins> parts);

struct EventBins {
  RoundEvent event;
  Bins bins;
};

bool has_histograms(std::string_view filter);
// Of each event the time over ranks, or the value of a counter; of those that some rank has had. Nothing if the round
// has no histograms, or damaged ones.
std::vector<EventBins> histograms_of(const RoundNames& names, std::string_view filter,
                                     std::span<const std::byte> reduced);

}  // namespace tare::reader
