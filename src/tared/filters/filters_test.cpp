// Histograms, sketches, groups, collections and filters of users: equal in any tree, and to brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tared/filters/filter.h"
#include "tared/filters/groups.h"
#include "tared/filters/tables.h"
#include "tared/filters/testing/profiles.h"

namespace tare::tared {
namespace {

using Values = std::map<std::pair<EventKey, std::size_t>, std::vector<double>>;

Values values_of(const std::vector<Profile>& profiles) {
  Values values;
  for (const Profile& profile : profiles)
    for (std::size_t i = 0; i < profile.keys.size(); ++i) {
      values[{profile.keys[i], 0}].push_back(profile.values[i].calls);
      values[{profile.keys[i], 1}].push_back(profile.values[i].time_ns);
      values[{profile.keys[i], 2}].push_back(profile.values[i].bytes);
    }
  return values;
}

// Values over many orders of magnitude, some of them 0.
std::vector<Profile> wide_profiles(Random& random, std::uint32_t ranks, std::uint32_t events) {
  auto profiles = random_profiles(random, ranks, events);
  std::uniform_real_distribution<double> exponent(-1, 40);
  for (Profile& profile : profiles)
    for (Metrics& metrics : profile.values) metrics.time_ns = std::exp(exponent(random));
  return profiles;
}

TEST(Histogram, IsTheNarrowestOfAllValuesInAnyTree) {
  Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const std::uint32_t bins = 2 + random() % 40;
    const HistogramFilter filter(bins, false);
    const auto profiles = wide_profiles(random, 1 + random() % 60, 6);
    const auto reduction = reduce_in_tree(filter, profiles, random, 1 + random() % 9);
    ASSERT_NE(reduction, nullptr);
    const auto& table = dynamic_cast<const HistogramReduction&>(*reduction).table();
    std::size_t at = 0;
    for (const auto& [key, values] : values_of(profiles)) {
      const Histogram& histogram = table.histograms.at(at);
      EXPECT_EQ(table.keys[at / metric_count], key.first);
      double width = 1;
      const auto bin_of = [&](double value) { return std::floor(value / width); };
      const auto [least, most] = std::ranges::minmax(values);
      while (bin_of(most) - bin_of(least) >= bins) width *= 2;
      EXPECT_EQ(histogram.width(), width);
      EXPECT_EQ(histogram.low(0), bin_of(least) * width);
      std::vector<std::uint32_t> counts(static_cast<std::size_t>(bin_of(most) - bin_of(least)) + 1, 0);
      for (const double value : values) ++counts[static_cast<std::size_t>(bin_of(value) - bin_of(least))];
      const auto found = table.counts_of(at).first(histogram.size());
      EXPECT_EQ(std::vector<std::uint32_t>(found.begin(), found.end()), counts);
      ++at;
    }
  }
}

TEST(Histogram, MayBeOfTimeAloneAndOfTheValuesOfCounters) {
  Random random(3);
  std::string error;
  const auto filter = make_filter("histogram:16:time", error);
  ASSERT_NE(filter, nullptr) << error;
  const std::vector<Profile> profiles = {{0, {1, 2}, {{9, 100, 8}, {1, 0, 5}}}, {1, {1, 2}, {{9, 103, 8}, {1, 0, 7}}}};
  const auto reduction = reduce_in_tree(*filter, profiles, random, 2);
  const auto& table = dynamic_cast<const HistogramReduction&>(*reduction).table();
  ASSERT_EQ(table.histograms.size(), 2U);
  EXPECT_EQ(table.histograms[0].low(0), 100);
  EXPECT_EQ(table.histograms[0].size(), 4U);
  EXPECT_EQ(table.histograms[1].low(0), 5);
  EXPECT_EQ(table.histograms[1].size(), 3U);
  for (const char* same : {"histogram:32:time", "histogram:time"}) EXPECT_NE(make_filter(same, error), nullptr) << same;
}

TEST(Quantiles, AreWithinTheirErrorInAnyTree) {
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    const double error = trial % 2 == 0 ? 0.01 : 0.05;
    const QuantileFilter filter(error);
    const auto profiles = wide_profiles(random, 1 + random() % 60, 6);
    const auto reduction = reduce_in_tree(filter, profiles, random, 1 + random() % 9);
    ASSERT_NE(reduction, nullptr);
    const auto& table = dynamic_cast<const QuantileReduction&>(*reduction).table();
    const auto alone = filter.begin();
    for (const Profile& profile : profiles) alone->add(profile.snapshot());
    EXPECT_EQ(table.sketches, dynamic_cast<const QuantileReduction&>(*alone).table().sketches);
    std::size_t at = 0;
    for (auto [key, values] : values_of(profiles)) {
      std::ranges::sort(values);
      for (const double q : {0.0, 0.1, 0.5, 0.9, 0.99, 1.0}) {
        const double exact = values[static_cast<std::size_t>(std::floor(q * static_cast<double>(values.size() - 1)))];
        if (exact < 1) continue;
        ASSERT_TRUE(table.sketches[at].is_bounded(q));
        EXPECT_NEAR(table.sketches[at].quantile(q, error), exact, error * exact * (1 + 1e-9));
      }
      ++at;
    }
  }
}

TEST(Quantiles, SayWhereTheirErrorIsNotBounded) {
  QuantileSketch sketch;
  constexpr double error = 0.0001;
  for (double value = 2; value < 1e9; value *= 1.01) sketch.add(value, error);
  EXPECT_FALSE(sketch.is_bounded(0.0));
  EXPECT_TRUE(sketch.is_bounded(1.0));
  EXPECT_NEAR(sketch.quantile(1.0, error), 1e9, 1e9 * 0.011);
}

TEST(Quantiles, OfCountersThatAreNegativeOrBelowOneAreNotBounded) {
  constexpr double error = 0.01;
  for (const double value : {-5.0, 0.3, std::nan("")}) {
    QuantileSketch sketch, other;
    sketch.add(value, error);
    other.add(0, error);
    EXPECT_TRUE(other.is_bounded(0.0)) << "0 is exact";
    other.add(1, error);
    EXPECT_NEAR(other.quantile(1.0, error), 1, error * (1 + 1e-9));
    other.merge(sketch);
    EXPECT_FALSE(other.is_bounded(0.0)) << value;
    EXPECT_TRUE(other.is_bounded(1.0)) << value;
  }
}

TEST(Histogram, LeavesOutValuesThatHaveNoBin) {
  format::Histogram histogram;
  std::vector<std::uint32_t> counts(16);
  for (const double value : {-5.0, std::nan(""), 1e300}) histogram.add(value, counts);
  EXPECT_EQ(histogram.size(), 0U);
  for (const double value : {0.0, 0.5, 1.0, -1.0}) histogram.add(value, counts);
  EXPECT_EQ(histogram.size(), 2U);
  EXPECT_EQ(counts[0], 2U);
  EXPECT_EQ(counts[1], 1U);
}

// Ranks of a few kinds, further apart than each is wide.
std::vector<Profile> planted(Random& random, std::uint32_t ranks, std::uint32_t kinds) {
  std::uniform_real_distribution<double> noise(-1e6, 1e6);
  std::vector<Profile> profiles;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Profile& profile = profiles.emplace_back(Profile{rank, {1, 2, 3, 4, 5}, {}});
    for (std::uint32_t i = 0; i < 5; ++i)
      profile.values.push_back({1, 1e9 * (1 + (rank % kinds * 3 + i) % 7) + noise(random), 0});
  }
  std::ranges::shuffle(profiles, random);
  return profiles;
}

TEST(Groups, ThatAreFarApartAreFoundInAnyTree) {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const std::uint32_t kinds = 1 + random() % 4;
    const GroupFilter filter(6);
    const auto profiles = planted(random, kinds * (2 + random() % 30), kinds);
    const auto reduction = reduce_in_tree(filter, profiles, random, 1 + random() % 9);
    ASSERT_NE(reduction, nullptr);
    GroupTable table = dynamic_cast<const GroupReduction&>(*reduction).table();
    settle(table, 6, GroupReduction::alike);
    ASSERT_EQ(table.groups.size(), kinds);
    for (std::uint32_t kind = 0; kind < kinds; ++kind) {
      const RankGroup& group = table.groups[kind];
      RankSet expected;
      std::vector<double> sums(5, 0);
      double squares = 0;
      for (std::uint32_t rank = kind; rank < profiles.size(); rank += kinds) expected.insert(rank);
      EXPECT_EQ(group.ranks, expected);
      for (const Profile& profile : profiles)
        for (std::size_t i = 0; profile.rank % kinds == kind && i < 5; ++i) sums[i] += profile.values[i].time_ns;
      for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(group.mean_ns[i], sums[i] / group.count, 1e-3);
      for (const Profile& profile : profiles)
        for (std::size_t i = 0; profile.rank % kinds == kind && i < 5; ++i)
          squares += std::pow(profile.values[i].time_ns - sums[i] / group.count, 2);
      EXPECT_NEAR(group.squares, squares, 1e-6 * squares + 1);
    }
  }
}

TEST(Groups, AreNoMoreThanWanted) {
  Random random(4);
  const auto reduction = reduce_in_tree(GroupFilter(3), random_profiles(random, 100, 8), random, 8);
  GroupTable table = dynamic_cast<const GroupReduction&>(*reduction).table();
  EXPECT_LE(table.groups.size(), 2 * table.kept());
  settle(table, 3, 0);
  EXPECT_EQ(table.groups.size(), 3U);
  double ranks = 0;
  for (const RankGroup& group : table.groups) ranks += group.count;
  EXPECT_EQ(ranks, 100);
}

TEST(Collection, HasAllSnapshots) {
  Random random(5);
  const auto profiles = random_profiles(random, 30, 8);
  const auto reduction = reduce_in_tree(CollectingFilter(), profiles, random, 4);
  const auto& collection = dynamic_cast<const CollectingReduction&>(*reduction).table();
  ASSERT_EQ(collection.ranks.size(), profiles.size());
  for (const Profile& profile : profiles) {
    const CollectedSnapshot& snapshot = collection.ranks.at(profile.rank);
    EXPECT_EQ(snapshot.keys, profile.keys);
    ASSERT_EQ(snapshot.values.size(), profile.values.size());
    for (std::size_t i = 0; i < profile.values.size(); ++i)
      EXPECT_EQ(snapshot.values[i].time_ns, profile.values[i].time_ns);
  }
  Bytes bytes;
  Writer out(bytes);
  reduction->write(out);
  EXPECT_FALSE(reduction->merge(bytes)) << "a rank is in a round once";
}

class AnyFilter : public ::testing::TestWithParam<std::string> {};

TEST_P(AnyFilter, RefusesDamagedResultsOrSurvivesThem) {
  Random random(6);
  std::string error;
  const auto filter = make_filter(GetParam(), error);
  ASSERT_NE(filter, nullptr) << error;
  const auto reduction = reduce_in_tree(*filter, wide_profiles(random, 20, 7), random, 3);
  ASSERT_NE(reduction, nullptr);
  EXPECT_TRUE(survives_damage(*filter, *reduction, random));
}

INSTANTIATE_TEST_SUITE_P(Filters, AnyFilter,
                         ::testing::Values("statistics", "histogram", "histogram:7", "quantiles", "quantiles:0.1",
                                           "groups", "groups:3", "none", "statistics+histogram:16:time",
                                           "quantiles+groups+none"));

// What each filter alone gives, one after the other.
TEST(CombinedFilter, GivesWhatEachOfItsFiltersGives) {
  Random random(8);
  std::string error;
  const auto profiles = wide_profiles(random, 30, 8);
  const auto both = make_filter("statistics+histogram:16", error);
  ASSERT_NE(both, nullptr) << error;
  const auto alone = [&](const std::string& name) {
    const auto reduction = make_filter(name, error)->begin();
    for (const Profile& profile : profiles) reduction->add(profile.snapshot());
    Bytes bytes;
    Writer out(bytes);
    reduction->write(out);
    return bytes;
  };
  const auto reduction = both->begin();
  for (const int time : {1, 2}) {
    for (const Profile& profile : profiles) reduction->add(profile.snapshot());
    Bytes bytes;
    Writer out(bytes);
    reduction->write(out);
    Reader in(bytes);
    for (const char* name : {"statistics", "histogram:16"}) {
      const auto part = in.take(in.get<std::uint32_t>());
      EXPECT_EQ(Bytes(part.begin(), part.end()), alone(name)) << name << ", used " << time;
    }
    EXPECT_TRUE(in.at_end());
    reduction->clear();
  }
}

TEST(CombinedFilter, MergesAllOfAResultOrNothing) {
  Random random(9);
  std::string error;
  const auto profiles = wide_profiles(random, 12, 5);
  const auto filter = make_filter("statistics+histogram", error);
  const auto written = [&](const Reduction& reduction) {
    Bytes bytes;
    Writer out(bytes);
    reduction.write(out);
    return bytes;
  };
  const auto half = filter->begin();
  const auto whole = filter->begin();
  for (const Profile& profile : profiles) {
    if (profile.rank % 2 == 0) half->add(profile.snapshot());
    whole->add(profile.snapshot());
  }
  const auto rest = filter->begin();
  for (const Profile& profile : profiles)
    if (profile.rank % 2 != 0) rest->add(profile.snapshot());
  Bytes damaged = written(*rest);
  damaged.resize(damaged.size() - 1);  // the histograms are, and the statistics before them are not
  const Bytes before = written(*half);
  EXPECT_FALSE(half->merge(damaged));
  EXPECT_EQ(written(*half), before);
  EXPECT_TRUE(half->merge(written(*rest)));
  Bytes merged = written(*half);
  Reader in(merged);
  in.take(in.get<std::uint32_t>());  // statistics: means are equal up to rounding
  Bytes all = written(*whole);
  Reader in_all(all);
  in_all.take(in_all.get<std::uint32_t>());
  EXPECT_TRUE(std::ranges::equal(in.rest(), in_all.rest()));
}

// The example adds up the time of all events, and knows the rank with most: examples/slowest_rank.c.
TEST(UserFilter, IsRunInTheTree) {
  Random random(7);
  std::string error;
  const auto filter = make_filter(SLOWEST_RANK, error);
  ASSERT_NE(filter, nullptr) << error;
  const auto profiles = wide_profiles(random, 30, 8);
  const auto reduction = reduce_in_tree(*filter, profiles, random, 4);
  std::pair<double, std::uint32_t> slowest{-1, 0};
  for (const Profile& profile : profiles) {
    double sum = 0;
    for (const Metrics& metrics : profile.values) sum += metrics.time_ns;
    slowest = std::max(slowest, {sum, profile.rank});
  }
  Bytes bytes;
  Writer out(bytes);
  reduction->write(out);
  Reader in(bytes);
  EXPECT_EQ(in.get<double>(), slowest.first);
  EXPECT_EQ(in.get<double>(), slowest.second);
}

struct CounterRange {  // examples/counter_range.c
  std::uint64_t key;
  double least;
  double most;
  char name[96];
  char unit[24];
};

// Which events are counters, their names and their units are not in snapshots.
TEST(UserFilter, KnowsWhatEventsAre) {
  Random random(10);
  std::string error;
  const auto filter = make_filter(COUNTER_RANGE, error);
  ASSERT_NE(filter, nullptr) << error;
  const auto profiles = random_profiles(random, 30, 4);
  const EventKey counter = event_key("event 2");
  filter->define({event_key("event 0"), "MPI_Send", ""});
  filter->define({event_key("event 1"), "region residual", ""});
  filter->define({counter, "counter residual", "m"});  // of event 3 there is no definition
  const auto reduction = reduce_in_tree(*filter, profiles, random, 4);
  double least = INFINITY;
  double most = -INFINITY;
  for (const Profile& profile : profiles)
    for (std::size_t i = 0; i < profile.keys.size(); ++i)
      if (profile.keys[i] == counter && profile.values[i].calls > 0) {
        least = std::min(least, profile.values[i].bytes);
        most = std::max(most, profile.values[i].bytes);
      }
  Bytes bytes;
  Writer out(bytes);
  reduction->write(out);
  Reader in(bytes);
  const auto range = in.get<CounterRange>();
  EXPECT_TRUE(in.at_end()) << "there is one counter";
  EXPECT_EQ(range.key, counter);
  EXPECT_EQ(range.least, least);
  EXPECT_EQ(range.most, most);
  EXPECT_STREQ(range.name, "residual");
  EXPECT_STREQ(range.unit, "m");
}

TEST(UserFilter, OneOfTheFirstVersionGoesOnWorking) {
  Random random(11);
  std::string error;
  const auto filter = make_filter(std::string("statistics+") + FIRST_VERSION_FILTER, error);
  ASSERT_NE(filter, nullptr) << error;
  filter->define({event_key("event 2"), "counter residual", "m"});
  const auto reduction = reduce_in_tree(*filter, random_profiles(random, 30, 4), random, 4);
  Bytes bytes;
  Writer out(bytes);
  reduction->write(out);
  Reader in(bytes);
  in.take(in.get<std::uint32_t>());
  EXPECT_EQ(in.get<std::uint32_t>(), sizeof(std::uint64_t));
  EXPECT_EQ(in.get<std::uint64_t>(), 30U);
}

// All filters of a chain merge a result, or none does.
TEST(UserFilter, OfAChainMergesWhatAllUnderstand) {
  Random random(12);
  std::string error;
  const auto profiles = wide_profiles(random, 4, 5);
  const auto filter =
      make_filter(std::string(SLOWEST_RANK) + "+statistics+" + FIRST_VERSION_FILTER + "+" + SLOWEST_RANK + ":2", error);
  ASSERT_NE(filter, nullptr) << error;
  const auto written = [](const Reduction& reduction) {
    Bytes bytes;
    Writer out(bytes);
    reduction.write(out);
    return bytes;
  };
  const auto one = filter->begin();
  const auto other = filter->begin();
  one->add(profiles[0].snapshot());
  other->add(profiles[1].snapshot());
  Bytes damaged = written(*other);
  // The length of the last result, and the result: 16 bytes for a rank become 15, which is none.
  damaged.pop_back();
  const std::uint32_t length = 15;
  std::memcpy(damaged.data() + damaged.size() - length - sizeof length, &length, sizeof length);
  const Bytes before = written(*one);
  EXPECT_FALSE(one->merge(damaged));
  EXPECT_EQ(written(*one), before);
  EXPECT_TRUE(one->merge(written(*other)));
  EXPECT_NE(written(*one), before);
}

TEST(UserFilter, OneThatCannotBeUsedIsRefusedWithTheReason) {
  std::string error;
  EXPECT_EQ(make_filter("/nowhere/filter.so", error), nullptr);
  EXPECT_NE(error.find("/nowhere/filter.so"), std::string::npos);
  EXPECT_EQ(make_filter("libm.so.6:", error), nullptr);
  EXPECT_EQ(make_filter(SLOWEST_RANK ":many", error), nullptr);
  EXPECT_NE(error.find("'many'"), std::string::npos);
}

TEST(Filter, OptionsThatAreNoneAreNamed) {
  std::string error;
  for (const char* wrong : {"medians", "histogram:1", "histogram:x", "histogram:16:calls", "histogram:16time",
                            "quantiles:0", "quantiles:nan", "groups:0", "groups:65", "statistics:3", "none:1",
                            "statistics+", "+statistics", "statistics+medians", "statistics+histogram:0"}) {
    EXPECT_EQ(make_filter(wrong, error), nullptr) << wrong;
    EXPECT_FALSE(error.empty());
  }
}

}  // namespace
}  // namespace tare::tared
