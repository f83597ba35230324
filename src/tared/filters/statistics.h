// The filter "statistics": for each event and metric the mean, standard deviation, minimum and maximum over ranks.
//
// Means and sums of squares are merged as Chan, Golub and LeVeque do (Updating formulae and a pairwise algorithm for
// computing sample variances, 1979): stable if the mean is large compared with the deviation. The minimum and the
// maximum name the lowest rank that has them. They and the counts are exact for any tree; means and deviations up to
// rounding.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tared/filters/filter.h"

namespace tare::tared {

// Columns of all events, each with metric_count numbers an event: [event * metric_count + metric].
struct StatisticsTable {
  std::vector<EventKey> keys;        // ascending
  std::vector<std::uint32_t> ranks;  // how many had the event
  std::vector<double> mean;
  std::vector<double> squares;  // sum of squared differences from the mean
  std::vector<double> least;
  std::vector<double> most;
  std::vector<std::uint32_t> least_rank;
  std::vector<std::uint32_t> most_rank;

  std::size_t size() const { return keys.size(); }
  // Of the population, because all ranks are included.
  double deviation(std::size_t event, std::size_t metric) const {
    return std::sqrt(squares[event * metric_count + metric] / ranks[event]);
  }
  void write(Writer& out) const;
  static bool read(Reader& in, StatisticsTable& table);
  void clear();
};

class StatisticsReduction : public Reduction {
 public:
  void add(const Snapshot& snapshot) override;
  bool unpack(std::span<const std::byte> reduced) override;
  bool unite() override;
  void write(Writer& out) const override { table_.write(out); }
  void clear() override { table_.clear(); }
  const StatisticsTable& table() const { return table_; }

 private:
  void make_room_for(std::span<const EventKey> keys);

  StatisticsTable table_;
  StatisticsTable other_;             // being merged
  std::vector<std::uint32_t> place_;  // the place in table_ of each event that is added
  bool in_place_ = false;             // both have the same events
};

class StatisticsFilter : public Filter {
 public:
  std::unique_ptr<Reduction> begin() const override { return std::make_unique<StatisticsReduction>(); }
};

}  // namespace tare::tared
