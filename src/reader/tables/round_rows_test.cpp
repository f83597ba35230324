#include "reader/tables/round_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
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

std::string record(std::uint32_t kind, std::string_view content) {
  return bytes(kind, static_cast<std::uint32_t>(content.size())).append(content);
}

std::string text(std::string_view content) { return bytes(static_cast<std::uint32_t>(content.size())).append(content); }

constexpr std::uint64_t send = 1, residual = 2;

class RoundRows : public ::testing::Test {
 protected:
  static std::string names() {
    return record(1, bytes(send) + "MPI_Send") + record(1, bytes(residual) + "counter residual");
  }
  // A round of ranks 0 and 1. Ranks 4, 7 and 8 are lost.
  static std::string round(std::string_view filter, std::string_view reduced) {
    const std::string head = bytes(std::uint64_t{8}, std::int64_t{1000}, std::int64_t{1005}, std::int64_t{1070},
                                   std::int64_t{0}, std::uint64_t{3}, std::uint64_t{4}, 2U, 1U);
    return record(2, head + bytes(1U, 0U, 2U) + bytes(2U, 4U, 1U, 7U, 2U) + text(filter) + std::string(reduced));
  }
  // The result of the filter `statistics` for one event.
  static std::string statistics(std::uint64_t key) {
    return bytes(1U, key, 2U) + bytes(3.0, 7.0, 9.0) + bytes(0.0, 2.0, 8.0) + bytes(1.0, 2.0, 3.0) +
           bytes(4.0, 5.0, 6.0) + bytes(0U, 0U, 1U) + bytes(1U, 1U, 0U);
  }
  std::vector<StoredRound> read(std::string_view payload) {
    std::vector<StoredRound> found;
    reader_.read(payload, [&](const StoredRound& round) { found.push_back(round); });
    return found;
  }
  // The rows that are made of the result of a filter.
  std::vector<ReductionRow> reduced(std::string_view filter, std::string_view content) {
    read(names());
    return reduction_rows(reader_, filter, content);
  }

  RoundReader reader_;
};

TEST_F(RoundRows, AreReadAsTheyAreWritten) {
  const std::string payload = names() + record(99, "later") + round("statistics", statistics(send));
  const auto found = read(payload);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].round, 8U);
  EXPECT_EQ(found[0].arrived_ns - found[0].first_ns, 70);
  EXPECT_EQ(found[0].ranks.count(), 2U);
  EXPECT_EQ(found[0].lost.text(), "4,7-8");
  const auto rows = statistic_rows(reader_, found[0].parts.at(0).second);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ(rows->at(1).event.name, "MPI_Send");
  EXPECT_STREQ(rows->at(1).metric, "time_ns");
  EXPECT_EQ(rows->at(1).mean, 7.0);
  EXPECT_EQ(rows->at(1).deviation, 1.0);
  EXPECT_EQ(rows->at(2).least_rank, 1);
  const auto counter = statistic_rows(reader_, statistics(residual));
  ASSERT_EQ(counter->size(), 2U) << "a counter has no time";
  EXPECT_EQ(counter->at(1).event.kind, RoundEventKind::counter);
  EXPECT_STREQ(counter->at(1).metric, "value");
  EXPECT_EQ(statistic_rows(reader_, statistics(77))->at(0).event.name, "event 000000000000004d");
}

TEST_F(RoundRows, SeveralFiltersHaveAPartEach) {
  const std::string payload = round("statistics+histogram:16:time", text("one") + text("two")) +
                              round("/a+b.so:x", "whole") +
                              round("/c++/a.so+none+b.so:1", text("1") + text("2") + text("3"));
  const auto found = read(payload);
  ASSERT_EQ(found.size(), 3U);
  ASSERT_EQ(found[0].parts.size(), 2U);
  EXPECT_EQ(found[0].parts[0].first, "statistics");
  EXPECT_EQ(found[0].parts[1].first, "histogram:16:time");
  EXPECT_EQ(found[0].parts[1].second, "two");
  ASSERT_EQ(found[1].parts.size(), 1U);
  EXPECT_EQ(found[1].parts[0].second, "whole");
  ASSERT_EQ(found[2].parts.size(), 3U);
  EXPECT_EQ(found[2].parts[0].first, "/c++/a.so");
  EXPECT_EQ(found[2].parts[2].first, "b.so:1");
  EXPECT_EQ(found[2].parts[2].second, "3");
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
  for (std::uint32_t i = 0; i < many; ++i) content += bytes(send);
  content += bytes(many);
  for (std::uint32_t i = 0; i < many; ++i) content += bytes(1'000'000 + 2 * i, 1U);
  content += bytes(0.5);
  for (std::uint32_t i = 0; i < many; ++i) content += bytes(7.0);
  EXPECT_TRUE(reduced("groups:2", content).empty());
}

TEST_F(RoundRows, WhatIsDamagedIsLeftOut) {
  const std::string whole = names() + round("statistics", statistics(send)) + round("none", bytes(0U));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_LT(read(whole.substr(0, size)).size(), 2U);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    RoundReader reader;
    reader.read(damaged, [&](const StoredRound& round) {
      for (const auto& [filter, reduced] : round.parts) {
        statistic_rows(reader, reduced);
        for (const char* each : {"histogram", "histogram:time", "quantiles", "groups", "none"})
          reduction_rows(reader, each, reduced);
      }
    });
  }
  const std::string content = statistics(send);
  for (std::size_t size = 0; size < content.size(); ++size)
    EXPECT_FALSE(statistic_rows(reader_, content.substr(0, size)));
}

}  // namespace
}  // namespace tare::reader
