// The records of rounds, and the results of filters in them: right values, what is cut off, and bounds.
#include "format/round.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "format/round_groups.h"
#include "format/round_histogram.h"
#include "format/round_profiles.h"
#include "format/round_quantiles.h"
#include "format/round_statistics.h"

namespace tare::format {
namespace {

template <typename... Numbers>
Bytes bytes(Numbers... numbers) {
  Bytes all;
  Writer out(all);
  (out.put(numbers), ...);
  return all;
}

template <typename... Parts>
Bytes joined(Bytes all, const Parts&... parts) {
  (all.insert(all.end(), parts.begin(), parts.end()), ...);
  return all;
}

template <class Table, class... More>
bool is_read(const Bytes& from, Table& table, More... more) {
  Reader in(from);
  return Table::read(in, table, more...) && in.at_end();
}

// Each beginning of the bytes is refused.
template <class Table, class... More>
bool is_refused_cut(const Bytes& whole, More... more) {
  for (std::size_t size = 0; size < whole.size(); ++size)
    if (Table table; is_read(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), table, more...))
      return false;
  return true;
}

Round made_round(std::string_view filter, std::span<const std::byte> reduced) {
  return {
      8,      RankSet::of_range(0, 2), RankSet::of_runs({{4, 1}, {7, 2}}), 1000, 1005, 1070, 6, {3, 4, 2, 1}, filter,
      reduced};
}

TEST(RoundRecords, AreReadAsTheyAreWritten) {
  const Bytes reduced = bytes(7U);
  Bytes payload;
  add_record(payload, static_cast<RoundRecord>(99), [](Writer& out) { out.put(1U); });
  add_record(payload, RoundRecord::round, [&](Writer& out) { made_round("none", reduced).write(out); });
  add_record(payload, RoundRecord::lost_round, [](Writer& out) { Round::write_lost(out, 9, RankSet::of_range(3, 1)); });
  Reader records(payload);
  RoundRecord kind{};
  Reader content({});
  ASSERT_TRUE(next_record(records, kind, content));
  EXPECT_EQ(static_cast<int>(kind), 99);
  ASSERT_TRUE(next_record(records, kind, content));
  EXPECT_EQ(kind, RoundRecord::round);
  Round round;
  ASSERT_TRUE(Round::read(content, round));
  EXPECT_EQ(round.round, 8U);
  EXPECT_EQ(round.first_offload_ns, 1000);
  EXPECT_EQ(round.last_offload_ns, 1005);
  EXPECT_EQ(round.delay_ns(), 70);
  EXPECT_EQ(round.clock_error_ns, 6);
  EXPECT_EQ(std::pair(round.cost.reduce_ns, round.cost.packet_ns), std::pair(std::uint64_t{3}, std::uint64_t{4}));
  EXPECT_EQ(std::pair(round.cost.reductions, round.cost.packets), std::pair(2U, 1U));
  EXPECT_EQ(round.ranks.text(), "0-1");
  EXPECT_EQ(round.lost.text(), "4,7-8");
  EXPECT_EQ(round.filter, "none");
  EXPECT_EQ(Bytes(round.reduced.begin(), round.reduced.end()), reduced);
  ASSERT_TRUE(next_record(records, kind, content));
  EXPECT_EQ(kind, RoundRecord::lost_round);
  ASSERT_TRUE(Round::read_lost(content, round));
  EXPECT_EQ(round.round, 9U);
  EXPECT_EQ(round.lost.text(), "3");
  EXPECT_TRUE(round.filter.empty());
  EXPECT_FALSE(next_record(records, kind, content));
}

TEST(RoundRecords, ThatAreCutOffAreNone) {
  Bytes whole;
  add_record(whole, RoundRecord::round, [](Writer& out) { made_round("none", {}).write(out); });
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Reader records{std::span(whole).first(size)};
    RoundRecord kind{};
    Reader content({});
    EXPECT_FALSE(next_record(records, kind, content));
  }
  Bytes content;
  Writer out(content);
  made_round("none", {}).write(out);
  EXPECT_TRUE(is_refused_cut<Round>(content));
}

TEST(RoundRecords, WithImpossibleFiltersAreDamage) {
  const auto is_possible = [](const std::string& filter) {
    Bytes content;
    Writer out(content);
    made_round(filter, {}).write(out);
    Round round;
    return is_read(content, round);
  };
  EXPECT_TRUE(is_possible(std::string(max_filter_bytes, 'x')));
  EXPECT_FALSE(is_possible(std::string(max_filter_bytes + 1, 'x')));
  EXPECT_TRUE(is_possible(std::string(max_filters - 1, '+')));
  EXPECT_FALSE(is_possible(std::string(max_filters, '+')));
}

TEST(PaceRecords, HaveTimes) {
  PaceRecord pace;
  ASSERT_TRUE(is_read(bytes(PaceRecord{5, 1000, 7.5, 0}), pace));
  EXPECT_EQ(pace.from_round, 5U);
  EXPECT_EQ(pace.interval_ns, 1000);
  EXPECT_EQ(pace.boi_ns, 7.5);
  for (const PaceRecord wrong : {PaceRecord{5, 0, 1, 1}, PaceRecord{5, 1, -1, 1}, PaceRecord{5, 1, 1, 0x1p65},
                                 PaceRecord{5, 1, NAN, 1}, PaceRecord{5, 1, 1, NAN}})
    EXPECT_FALSE(is_read(bytes(wrong), pace));
}

TEST(Events, HaveAKindAndAName) {
  const auto is_kind = [](std::string_view identity, EventKind kind, std::string_view name) {
    const EventName found = event_name(identity);
    return found.kind == kind && found.name == name;
  };
  EXPECT_TRUE(is_kind("MPI_Send", EventKind::function, "MPI_Send"));
  EXPECT_TRUE(is_kind("region step", EventKind::region, "step"));
  EXPECT_TRUE(is_kind("phase x y", EventKind::phase, "x y"));
  EXPECT_TRUE(is_kind("counter ", EventKind::counter, ""));
  EXPECT_TRUE(is_kind("region", EventKind::function, "region"));
  EXPECT_TRUE(is_kind("regions x", EventKind::function, "regions x"));
}

TEST(Results, OfSeveralFiltersAreParts) {
  std::vector<FilterResult> parts;
  const Bytes whole = bytes(1U, 1U);
  ASSERT_TRUE(split_result("/a+b.so:x", whole, parts));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].reduced.size(), whole.size());
  const Bytes three = joined(bytes(4U, 1U), bytes(0U), bytes(8U, 2U, 3U));
  ASSERT_TRUE(split_result("/c++/a.so+none+b.so:1", three, parts));
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].filter, "/c++/a.so");
  EXPECT_EQ(parts[2].filter, "b.so:1");
  EXPECT_EQ(parts[2].reduced.size(), 8U);
  for (std::size_t size = 0; size < three.size(); ++size)
    EXPECT_FALSE(split_result("/c++/a.so+none+b.so:1", std::span(three).first(size), parts));
}

Bytes statistics(std::uint64_t key, std::uint32_t ranks) {
  return bytes(1U, key, ranks, 3.0, 7.0, 9.0, 0.0, 2.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0U, 0U, 1U, 1U, 1U, 0U);
}

TEST(Statistics, AreReadAsTheyAreWritten) {
  StatisticsTable table;
  const Bytes written = statistics(11, 2);
  ASSERT_TRUE(is_read(written, table));
  const Statistic time = table.at(0, 1);
  EXPECT_EQ(time.ranks, 2U);
  EXPECT_EQ(time.mean, 7);
  EXPECT_EQ(time.deviation(), 1);
  EXPECT_EQ(std::pair(time.least, time.most), std::pair(2.0, 5.0));
  EXPECT_EQ(std::pair(table.at(0, 2).least_rank, table.at(0, 2).most_rank), std::pair(1U, 0U));
  Bytes again;
  Writer out(again);
  table.write(out);
  EXPECT_EQ(again, written);
  EXPECT_TRUE(is_refused_cut<StatisticsTable>(written));
  EXPECT_FALSE(is_read(statistics(11, 0), table)) << "an event that no rank has";
  EXPECT_FALSE(is_read(bytes(max_events + 1), table));
}

TEST(Statistics, OfDifferentRanksAreMerged) {
  // 1 and 3 on ranks 0 and 1; 5, 5 and 11 on ranks 2 to 4.
  Statistic all{2, 2, 2, 1, 3, 0, 1};
  all.merge({3, 7, 24, 5, 11, 2, 4});
  EXPECT_EQ(all.ranks, 5U);
  EXPECT_EQ(all.mean, 5);
  EXPECT_DOUBLE_EQ(all.squares, 56);
  EXPECT_EQ(std::pair(all.least, all.least_rank), std::pair(1.0, 0U));
  EXPECT_EQ(std::pair(all.most, all.most_rank), std::pair(11.0, 4U));
}

// An event with one histogram.
Bytes histogram(std::uint16_t exponent, std::uint64_t first, const std::vector<std::uint32_t>& counts,
                std::uint32_t most = 16) {
  Bytes all = bytes(most, 1U, std::uint64_t{11}, exponent, static_cast<std::uint16_t>(counts.size()), first);
  Writer(all).put_all(counts);
  return all;
}

TEST(Histograms, AreReadAsTheyAreWritten) {
  HistogramTable table;
  ASSERT_TRUE(is_read(histogram(4, 10, {1, 0, 3}), table, 1));
  ASSERT_EQ(table.histograms.size(), 1U);
  EXPECT_EQ(table.histograms[0].width(), 16);
  EXPECT_EQ(table.histograms[0].low(0), 160);
  EXPECT_EQ(table.histograms[0].low(3), 208);
  EXPECT_EQ(table.counts, (std::vector<std::uint32_t>{1, 0, 3}));
  EXPECT_TRUE(is_refused_cut<HistogramTable>(histogram(4, 10, {1, 0, 3}), 1));
  EXPECT_FALSE(is_read(histogram(4, 10, {1}), table, metric_count)) << "there are three for each event";
  EXPECT_TRUE(has_only_time("histogram:16:time"));
  EXPECT_FALSE(has_only_time("histogram:16"));
}

TEST(Histograms, EndWhereNumbersEnd) {
  HistogramTable table;
  const std::uint64_t last = std::uint64_t{1} << 62;
  EXPECT_TRUE(is_read(histogram(0, last, {1}), table, 1));
  EXPECT_FALSE(is_read(histogram(0, last + 1, {1}), table, 1));
  EXPECT_FALSE(is_read(histogram(0, last, {1, 1}), table, 1));
  EXPECT_FALSE(is_read(histogram(0, std::uint64_t{1} << 63, {1}), table, 1));
  EXPECT_TRUE(is_read(histogram(62, 1, {1}), table, 1));
  EXPECT_TRUE(is_read(histogram(62, 0, {1, 1}), table, 1));
  EXPECT_FALSE(is_read(histogram(62, 0, {1, 1, 1}), table, 1));
  EXPECT_FALSE(is_read(histogram(63, 0, {1}), table, 1));
}

TEST(Histograms, HaveAsManyBinsAsTheySay) {
  HistogramTable table;
  EXPECT_TRUE(is_read(histogram(0, 0, std::vector<std::uint32_t>(16, 1)), table, 1));
  EXPECT_FALSE(is_read(histogram(0, 0, std::vector<std::uint32_t>(17, 1)), table, 1));
  EXPECT_TRUE(is_read(histogram(0, 0, std::vector<std::uint32_t>(1024, 1), Histogram::max_bins), table, 1));
  EXPECT_FALSE(is_read(histogram(0, 0, {1}, Histogram::max_bins + 1), table, 1));
  EXPECT_FALSE(is_read(histogram(0, 0, {0, 1}), table, 1)) << "the first bin is empty";
  EXPECT_FALSE(is_read(histogram(0, 0, {1, 0}), table, 1)) << "the last bin is empty";
  EXPECT_TRUE(is_read(histogram(0, 0, {}), table, 1)) << "no rank has had the event";
}

// An event with the same sketch for each metric.
Bytes quantiles(double error, std::uint64_t zeros, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& buckets,
                std::uint32_t joined_lowest = 0) {
  Bytes metric = bytes(zeros, static_cast<std::uint32_t>(buckets.size()), joined_lowest);
  for (const auto& [index, count] : buckets) metric = joined(metric, bytes(index, count));
  return joined(bytes(error, 1U, std::uint64_t{11}), metric, metric, metric);
}

TEST(Quantiles, AreValuesOfTheSortedRanks) {
  // With this error buckets grow by a factor of 3: bucket 1 is shown as 1.5, bucket 2 as 4.5.
  QuantileTable table;
  ASSERT_TRUE(is_read(quantiles(0.5, 2, {{1, 1}, {2, 2}}), table));
  const QuantileSketch& sketch = table.sketches.at(1);
  EXPECT_EQ(sketch.count(), 5U);
  for (const auto& [share, value] :
       {std::pair(0.0, 0.0), {0.25, 0.0}, {0.49, 0.0}, {0.5, 1.5}, {0.74, 1.5}, {0.75, 4.5}, {1.0, 4.5}})
    EXPECT_DOUBLE_EQ(sketch.quantile(share, table.error), value) << share;
  EXPECT_TRUE(is_refused_cut<QuantileTable>(quantiles(0.5, 2, {{1, 1}, {2, 2}})));
}

TEST(Quantiles, ThatNoFilterGivesAreRefused) {
  QuantileTable table;
  EXPECT_TRUE(is_read(quantiles(0.0001, 0, {}), table));
  EXPECT_TRUE(is_read(quantiles(0.01, 0, {{7, 1}, {7 + QuantileSketch::max_buckets - 1, 1}}), table));
  for (const double error : {0.00009, 0.51, -0.1, static_cast<double>(NAN)})
    EXPECT_FALSE(is_read(quantiles(error, 0, {}), table)) << error;
  EXPECT_FALSE(is_read(quantiles(0.01, 0, {{7, 0}}), table)) << "an empty bucket";
  EXPECT_FALSE(is_read(quantiles(0.01, 0, {{7, 1}, {7, 1}}), table)) << "a bucket twice";
  EXPECT_FALSE(is_read(quantiles(0.01, 0, {{7, 1}, {7 + QuantileSketch::max_buckets, 1}}), table)) << "too wide";
  EXPECT_FALSE(is_read(quantiles(0.01, 0, {{7, 1}}, 2), table));
}

TEST(Groups, HaveDifferentRanks) {
  GroupTable table;
  const auto two = [](const Bytes& first, const Bytes& second, double mean, std::uint32_t wanted = 2) {
    return joined(bytes(wanted, 1U, 2U, std::uint64_t{11}), first, bytes(0.5, 7.0), second, bytes(0.0, mean));
  };
  const Bytes low = bytes(1U, 0U, 2U), high = bytes(1U, 2U, 2U);
  ASSERT_TRUE(is_read(two(low, high, 8), table));
  EXPECT_EQ(table.groups.at(1).ranks.text(), "2-3");
  EXPECT_EQ(table.groups[0].mean_ns.at(0), 7);
  EXPECT_TRUE(is_refused_cut<GroupTable>(two(low, high, 8)));
  EXPECT_FALSE(is_read(two(low, low, 8), table)) << "a rank twice";
  EXPECT_FALSE(is_read(two(low, bytes(0U), 8), table)) << "a group without ranks";
  EXPECT_TRUE(is_read(two(low, high, RankGroup::max_ns), table));
  EXPECT_FALSE(is_read(two(low, high, 1.001 * RankGroup::max_ns), table));
  EXPECT_FALSE(is_read(two(low, high, 8, 0), table));
  EXPECT_FALSE(is_read(two(low, high, 8, GroupTable::max_groups + 1), table));
}

TEST(Profiles, HaveEachRankOnce) {
  Collection collection;
  const auto of = [](std::uint32_t first, std::uint32_t second) {
    const auto one = [](std::uint32_t rank) {
      return bytes(rank, 1U, std::int64_t{5}, std::uint64_t{11}, 1.0, 2.0, 3.0);
    };
    return joined(bytes(2U), one(first), one(second));
  };
  ASSERT_TRUE(is_read(of(3, 1), collection));
  EXPECT_EQ(collection.ranks.at(3).offloaded_ns, 5);
  EXPECT_EQ(collection.ranks.at(1).values.at(0).bytes, 3);
  EXPECT_TRUE(is_refused_cut<Collection>(of(3, 1)));
  EXPECT_FALSE(is_read(of(3, 3), collection));
}

}  // namespace
}  // namespace tare::format
