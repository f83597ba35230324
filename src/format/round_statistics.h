// The result of the filter "statistics": for each event and metric the mean, standard deviation, minimum and maximum
// over ranks.
//
// Means and sums of squares are merged as Chan, Golub and LeVeque do (Updating formulae and a pairwise algorithm for
// computing sample variances, 1979): stable if the mean is large compared with the deviation. The minimum and the
// maximum name the lowest rank that has them. They and the counts are exact for any tree; means and deviations up to
// rounding.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "format/round.h"

namespace tare::format {

inline constexpr std::string_view statistics_filter = "statistics";

// One metric of an event over ranks.
struct Statistic {
  std::uint64_t ranks = 0;  // how many had the event
  double mean = 0;
  double squares = 0;  // sum of squared differences from the mean
  double least = 0;
  double most = 0;
  std::uint32_t least_rank = 0;
  std::uint32_t most_rank = 0;

  // Of the population, because all ranks are included.
  double deviation() const;
  // Adds other ranks.
  void merge(const Statistic& other);
  // If two minima or maxima are equal, the one with the lower rank counts.
  static void take_least(double& least, std::uint32_t& rank, double value, std::uint32_t of) {
    if (value < least || (value == least && of < rank)) {
      least = value;
      rank = of;
    }
  }
  static void take_most(double& most, std::uint32_t& rank, double value, std::uint32_t of) {
    if (value > most || (value == most && of < rank)) {
      most = value;
      rank = of;
    }
  }
};

// Columns of all events, each with metric_count numbers an event: [event * metric_count + metric].
struct StatisticsTable {
  std::vector<EventKey> keys;        // ascending
  std::vector<std::uint32_t> ranks;  // how many had the event; never 0
  std::vector<double> mean;
  std::vector<double> squares;
  std::vector<double> least;
  std::vector<double> most;
  std::vector<std::uint32_t> least_rank;
  std::vector<std::uint32_t> most_rank;

  std::size_t size() const { return keys.size(); }
  Statistic at(std::size_t event, std::size_t metric) const;
  void put(std::size_t event, std::size_t metric, const Statistic& statistic);  // but for the number of ranks
  void write(Writer& out) const;
  static bool read(Reader& in, StatisticsTable& table);
  void clear();
};

// Inline, because reductions are loops over them.
inline void Statistic::merge(const Statistic& other) {
  const auto before = static_cast<double>(ranks);
  const double share = static_cast<double>(other.ranks) / (before + static_cast<double>(other.ranks));
  const double difference = other.mean - mean;
  mean += difference * share;
  squares += other.squares + difference * difference * before * share;
  take_least(least, least_rank, other.least, other.least_rank);
  take_most(most, most_rank, other.most, other.most_rank);
  ranks += other.ranks;
}

inline Statistic StatisticsTable::at(std::size_t event, std::size_t metric) const {
  const std::size_t i = event * metric_count + metric;
  return {ranks[event], mean[i], squares[i], least[i], most[i], least_rank[i], most_rank[i]};
}

inline void StatisticsTable::put(std::size_t event, std::size_t metric, const Statistic& statistic) {
  const std::size_t i = event * metric_count + metric;
  mean[i] = statistic.mean;
  squares[i] = statistic.squares;
  least[i] = statistic.least;
  most[i] = statistic.most;
  least_rank[i] = statistic.least_rank;
  most_rank[i] = statistic.most_rank;
}

}  // namespace tare::format
