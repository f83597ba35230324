// The results of filters for a round, as rows of the tables `rounds` and `reductions`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/store/rounds.h"

namespace tare::reader {

// Statistics of one metric of an event, over the ranks that have the event.
struct StatisticRow {
  RoundEvent event;
  const char* metric = "";  // "calls", "time_ns", "bytes" or, for counters, "value"
  format::Statistic statistic;
};

// A bin, a quantile, a group, a rank, or the result of a filter that the user provides. Fields that it does not have
// are empty.
struct ReductionRow {
  std::optional<RoundEvent> event{};
  const char* metric = nullptr;
  std::optional<double> low{}, high{}, quantile{}, value{};
  std::optional<std::int64_t> count{};
  std::optional<std::string> ranks{}, result{};
};

// The results of the filter `statistics`.
std::vector<StatisticRow> statistic_rows(const RoundNames& names, const StoredRound& round);
// The rows of any other filter. Empty if its result is damaged.
std::vector<ReductionRow> reduction_rows(const RoundNames& names, const format::FilterResult& result);

}  // namespace tare::reader
