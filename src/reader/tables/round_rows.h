// The results of filters for a round, as rows of the tables `rounds` and `reductions`.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/store/rounds.h"

namespace tare::reader {

// Statistics of one metric of an event, over the ranks that have the event.
struct StatisticRow {
  RoundEvent event;
  const char* metric = "";  // "calls", "time_ns", "bytes" or, for counters, "value"
  std::int32_t ranks = 0;   // number of these ranks
  double mean = 0, deviation = 0, least = 0, most = 0;
  std::int32_t least_rank = 0, most_rank = 0;
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

inline constexpr std::string_view statistics_filter = "statistics";

// `reduced`: the result of the filter `statistics`. Nothing if it is damaged.
std::optional<std::vector<StatisticRow>> statistic_rows(const RoundReader& names, std::string_view reduced);
// The rows of any other filter. `filter`: its name with arguments. Empty if `reduced` is damaged.
std::vector<ReductionRow> reduction_rows(const RoundReader& names, std::string_view filter, std::string_view reduced);

}  // namespace tare::reader
