#include "tared/filters/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tared/filters/filter.h"
#include "tared/filters/testing/profiles.h"

namespace tare::tared {
namespace {

TEST(Statistics, AreThoseOfAllRanksInAnyTree) {
  Random random(1);
  const StatisticsFilter filter;
  for (int trial = 0; trial < 50; ++trial) {
    const auto profiles = random_profiles(random, 1 + random() % 70, 1 + random() % 20);
    std::map<std::pair<EventKey, std::size_t>, std::vector<std::pair<double, std::uint32_t>>> values;
    for (const Profile& profile : profiles)
      for (std::size_t i = 0; i < profile.keys.size(); ++i) {
        values[{profile.keys[i], 0}].emplace_back(profile.values[i].calls, profile.rank);
        values[{profile.keys[i], 1}].emplace_back(profile.values[i].time_ns, profile.rank);
        values[{profile.keys[i], 2}].emplace_back(profile.values[i].bytes, profile.rank);
      }
    const auto reduction = reduce_in_tree(filter, profiles, random, 1 + random() % 9);
    ASSERT_NE(reduction, nullptr);
    const auto& table = dynamic_cast<const StatisticsReduction&>(*reduction).table();
    ASSERT_EQ(table.size() * metric_count, values.size());
    std::size_t at = 0;
    for (auto& [key, of] : values) {
      const std::size_t event = at / metric_count;
      ASSERT_EQ(table.keys[event], key.first);
      EXPECT_EQ(table.ranks[event], of.size());
      long double sum = 0;
      for (const auto& [value, rank] : of) sum += value;
      const long double mean = sum / static_cast<long double>(of.size());
      long double squares = 0;
      for (const auto& [value, rank] : of) squares += (value - mean) * (value - mean);
      const auto deviation = static_cast<double>(std::sqrt(squares / static_cast<long double>(of.size())));
      EXPECT_NEAR(table.mean[at], static_cast<double>(mean), 1e-12 * std::abs(static_cast<double>(mean)));
      // The sum of squares as a difference of sums would be wrong by 1e8 here.
      EXPECT_NEAR(table.at(event, at % metric_count).deviation(), deviation, 1e-9 * deviation + 1e-3);
      std::ranges::sort(of);
      EXPECT_EQ(table.least[at], of.front().first);
      EXPECT_EQ(table.least_rank[at], of.front().second);
      const double most = of.back().first;
      const auto lowest = std::ranges::find_if(of, [&](const auto& entry) { return entry.first == most; });
      EXPECT_EQ(table.most[at], most);
      EXPECT_EQ(table.most_rank[at], lowest->second);
      ++at;
    }
  }
}

TEST(Statistics, DamagedResultsAreRefusedOrHarmless) {
  Random random(2);
  const StatisticsFilter filter;
  const auto reduction = reduce_in_tree(filter, random_profiles(random, 9, 12), random, 3);
  EXPECT_TRUE(survives_damage(filter, *reduction, random));
}

TEST(Statistics, AReductionIsUsedAgain) {
  Random random(3);
  const StatisticsFilter filter;
  const auto reduction = reduce_in_tree(filter, random_profiles(random, 9, 12), random, 3);
  reduction->clear();
  const auto other = random_profiles(random, 5, 7);
  const auto fresh = filter.begin();
  for (const Profile& profile : other) {
    reduction->add(profile.snapshot());
    fresh->add(profile.snapshot());
  }
  Bytes again;
  Bytes first;
  Writer write_again(again);
  Writer write_first(first);
  reduction->write(write_again);
  fresh->write(write_first);
  EXPECT_EQ(again, first);
}

TEST(Filter, AnUnknownOneIsNamed) {
  std::string error;
  EXPECT_EQ(make_filter("medians", error), nullptr);
  EXPECT_NE(error.find("'medians'"), std::string::npos);
  EXPECT_NE(make_filter("statistics", error), nullptr);
}

TEST(Statistics, MoreRanksThanCanBeCountedAreStillSome) {
  StatisticsTable table;
  table.keys = {1};
  table.ranks = {1U << 31U};
  for (auto* column : {&table.mean, &table.squares, &table.least, &table.most}) column->assign(metric_count, 0);
  for (auto* column : {&table.least_rank, &table.most_rank}) column->assign(metric_count, 0);
  Bytes sent;
  Writer writer(sent);
  table.write(writer);
  std::string error;
  const auto reduction = make_filter("statistics", error)->begin();
  EXPECT_TRUE(reduction->merge(sent));
  EXPECT_TRUE(reduction->merge(sent));
  Bytes passed_on;
  Writer out(passed_on);
  reduction->write(out);
  EXPECT_TRUE(make_filter("statistics", error)->begin()->merge(passed_on));
}

}  // namespace
}  // namespace tare::tared
