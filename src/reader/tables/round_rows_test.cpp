#include "reader/tables/round_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tare::reader {
namespace {

template <typename... Numbers>
std::string bytes(Numbers... numbers) {
  std::string all;
  (all.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return all;
}

constexpr std::uint64_t send = 1, residual = 2;

class RoundRows : public ::testing::Test {
 protected:
  RoundRows() {
    names_.add(send, "MPI_Send");
    names_.add(residual, "counter residual");
  }
  std::vector<StatisticRow> statistics(std::uint64_t key) {
    StoredRound round;
    round.statistics.push_back({{key}, {2}, {3, 7, 9}, {0, 2, 8}, {1, 2, 3}, {4, 5, 6}, {0, 0, 1}, {1, 1, 0}});
    return statistic_rows(names_, round);
  }
  // The rows that are made of the result of a filter.
  std::vector<ReductionRow> reduced(std::string_view filter, std::string_view content) {
    return reduction_rows(names_, {filter, std::as_bytes(std::span(content))});
  }

  RoundNames names_;
};

TEST_F(RoundRows, OfStatistics) {
  const auto rows = statistics(send);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.at(1).event.name, "MPI_Send");
  EXPECT_STREQ(rows.at(1).metric, "time_ns");
  EXPECT_EQ(rows.at(1).statistic.mean, 7.0);
  EXPECT_EQ(rows.at(1).statistic.deviation(), 1.0);
  EXPECT_EQ(rows.at(2).statistic.least_rank, 1U);
  const auto counter = statistics(residual);
  ASSERT_EQ(counter.size(), 2U) << "a counter has no time";
  EXPECT_EQ(counter.at(1).event.kind, format::EventKind::counter);
  EXPECT_STREQ(counter.at(1).metric, "value");
  EXPECT_EQ(statistics(77).at(0).event.name, "event 000000000000004d");
}

TEST_F(RoundRows, OfHistograms) {
  // Bins of width 16, from 160 on; the one in the middle is empty.
  const std::string bins = bytes(std::uint16_t{4}, std::uint16_t{3}, std::uint64_t{10}, 1U, 0U, 3U);
  const auto rows = reduced("histogram:16:time", bytes(16U, 2U, send, residual) + bins + bins);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].event->name, "MPI_Send");
  EXPECT_STREQ(rows[1].metric, "time_ns");
  EXPECT_EQ(rows[1].low, 192.0);
  EXPECT_EQ(rows[1].high, 208.0);
  EXPECT_EQ(rows[1].count, 3);
  EXPECT_STREQ(rows[2].metric, "value");
  EXPECT_EQ(reduced("histogram:16", bytes(16U, 1U, residual) + bins + bins + bins).size(), 4U);
}

TEST_F(RoundRows, OfQuantiles) {
  // The bounds of buckets grow by a factor of 3. Two values are 0, and two are in bucket 1, which is shown as 1.5.
  const std::string metric = bytes(std::uint64_t{2}, 1U, 0U, 1U, 2U);
  const auto rows = reduced("quantiles:0.5", bytes(0.5, 1U, send) + metric + metric + metric);
  ASSERT_EQ(rows.size(), 21U);
  EXPECT_EQ(rows[0].value, 0.0);
  EXPECT_EQ(rows[6].quantile, 1.0);
  EXPECT_EQ(rows[6].value, 1.5);
  EXPECT_EQ(rows[6].count, 4);
  const std::string nobody = bytes(std::uint64_t{0}, 0U, 0U);
  EXPECT_EQ(reduced("quantiles", bytes(0.5, 1U, send) + nobody + nobody + nobody).size(), 0U);
  EXPECT_EQ(reduced("quantiles", bytes(7.0, 1U, send) + metric + metric + metric).size(), 0U);
}

TEST_F(RoundRows, OfGroupsRanksAndFilesOfTheUser) {
  const auto groups = reduced("groups:2", bytes(2U, 2U, 1U, send, residual) + bytes(1U, 3U, 2U) + bytes(0.5, 7.0, 8.0));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].ranks, "3-4");
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_EQ(groups[0].value, 7.0);
  const auto ranks = reduced("none", bytes(1U, 5U, 1U, std::int64_t{0}, residual, 1.0, 2.0, 3.0));
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[1].ranks, "5");
  EXPECT_EQ(ranks[1].value, 3.0);
  EXPECT_EQ(reduced("my.so", "\x01\xff").at(0).result, "01ff");
}

// Ranks and events of half a megabyte would be a text of a terabyte.
TEST_F(RoundRows, RanksThatWouldTakeAllMemoryAreDamage) {
  constexpr std::uint32_t many = 1 << 16;
  std::string content = bytes(2U, many, 1U);
  for (std::uint32_t i = 0; i < many; ++i) content += bytes(send + i);
  content += bytes(many);
  for (std::uint32_t i = 0; i < many; ++i) content += bytes(1'000'000 + 2 * i, 1U);
  content += bytes(0.5);
  for (std::uint32_t i = 0; i < many; ++i) content += bytes(7.0);
  EXPECT_TRUE(reduced("groups:2", content).empty());
}

TEST_F(RoundRows, WhatIsDamagedIsLeftOut) {
  const std::string bins = bytes(std::uint16_t{4}, std::uint16_t{1}, std::uint64_t{10}, 1U);
  const std::string whole = bytes(16U, 1U, send) + bins + bins + bins;
  EXPECT_EQ(reduced("histogram", whole).size(), 3U);
  for (std::size_t size = 0; size < whole.size(); ++size)
    for (const char* filter : {"histogram", "quantiles", "groups", "none"})
      EXPECT_TRUE(reduced(filter, whole.substr(0, size)).empty() || filter == std::string_view("none"));
  // Buckets whose values are no numbers.
  const std::string endless = bytes(std::uint64_t{0}, 1U, 0U, 0xffffffffU, 1U);
  EXPECT_TRUE(reduced("quantiles", bytes(0.5, 1U, send) + endless + endless + endless).empty());
}

}  // namespace
}  // namespace tare::reader
