// What filters have made of a round, as rows: those of the tables `rounds` and `reductions`.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/store/rounds.h"

namespace tare::reader {

// One metric of an event over the ranks that have the event.
struct StatisticRow {
  RoundEvent event;
  const char* metric = "";
  std::int32_t ranks = 0;
  double mean = 0, deviation = 0, least = 0, most = 0;
  std::int32_t least_rank = 0, most_rank = 0;
};

// A bin, quantile, group, rank, or what a filter of the user's wrote. What it does not have is none.
struct ReductionRow {
  std::optional<RoundEvent> event{};
  const char* metric = nullptr;
  std::optional<double> low{}, high{}, quantile{}, value{};
  std::optional<std::int64_t> count{};
  std::optional<std::string> ranks{}, result{};
};

inline constexpr std::string_view statistics_filter = "statistics";

// `reduced`: of the filter `statistics`. None if that is damaged.
std::optional<std::vector<StatisticRow>> statistic_rows(const RoundReader& names, std::string_view reduced);
// Of any other filter, with its arguments; empty if that is damaged.
std::vector<ReductionRow> reduction_rows(const RoundReader& names, std::string_view filter, std::string_view reduced);

}  // namespace tare::reader
