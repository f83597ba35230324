// The filter "statistics" (format/round_statistics.h).
#pragma once

#include <cstdint>
#include <vector>

#include "format/round_statistics.h"
#include "tared/filters/filter.h"

namespace tare::tared {

using format::Statistic;
using format::StatisticsTable;

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
