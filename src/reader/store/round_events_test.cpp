#include "reader/store/round_events.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace tare::reader {
namespace {

using format::Bytes;
using format::Statistic;
using format::Writer;

constexpr format::EventKey send = 1, step = 2, residual = 3;

// A result of the filter `statistics`, of one rank whose metrics have these values.
struct Given {
  format::EventKey key;
  double calls, time, bytes;
};
Bytes statistics(const std::vector<Given>& events) {
  format::StatisticsTable table;
  for (const Given& event : events) {
    table.keys.push_back(event.key);
    table.ranks.push_back(1);
    for (const double value : {event.calls, event.time, event.bytes}) {
      for (auto* column : {&table.mean, &table.least, &table.most}) column->push_back(value);
      table.squares.push_back(0);
      for (auto* column : {&table.least_rank, &table.most_rank}) column->push_back(0);
    }
  }
  Bytes all;
  Writer out(all);
  table.write(out);
  return all;
}

class Rounds : public ::testing::Test {
 protected:
  static void add(Bytes& payload, format::RoundRecord kind, const std::function<void(Writer&)>& put) {
    format::add_record(payload, kind, put);
  }
  static Bytes names() {
    Bytes payload;
    for (const auto& [key, name] : {std::pair<format::EventKey, std::string_view>{send, "MPI_Send"},
                                    {step, "region step"},
                                    {residual, "counter residual"}})
      add(payload, format::RoundRecord::name, [&, key = key, name = name](Writer& out) {
        out.put(key);
        out.put_all(std::span<const char>(name));
      });
    return payload;
  }
  static void add_round(Bytes& payload, std::uint64_t number, std::string_view filter, const Bytes& reduced) {
    const format::Round round{number, format::RankSet::of_range(0, 2), {}, 1000, 1005, 1070, 0, {}, filter, reduced};
    add(payload, format::RoundRecord::round, [&](Writer& out) { round.write(out); });
  }
  // The numbers of the rounds in a payload; the last one's events are kept.
  std::vector<std::uint64_t> read(std::span<const std::byte> payload) {
    std::vector<std::uint64_t> numbers;
    reader_.read({reinterpret_cast<const char*>(payload.data()), payload.size()}, [&](const StoredRound& round) {
      numbers.push_back(round.round);
      events_ = possible_events(*reader_.names(), round);
      bins_ = histograms_of(*reader_.names(), round.filter, round.reduced);
    });
    return numbers;
  }
  RoundReader reader_;
  std::vector<EventStatistics> events_;
  std::vector<EventBins> bins_;
};

TEST_F(Rounds, AreReadInTheirOrder) {
  Bytes payload = names();
  add(payload, static_cast<format::RoundRecord>(99), [](Writer& out) { out.put(1U); });
  add_round(payload, 8, "statistics", statistics({{send, 3, 7, 9}, {residual, 1, 0, 0.5}}));
  add(payload, format::RoundRecord::pace, [](Writer& out) { out.put(format::PaceRecord{9, 1000, 0, 0}); });
  EXPECT_EQ(read(payload), std::vector<std::uint64_t>{8});
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(events_[0].event.name, "MPI_Send");
  EXPECT_EQ(events_[0].metrics[1].mean, 7);
  EXPECT_EQ(events_[1].event.kind, format::EventKind::counter);
  ASSERT_EQ(reader_.paces().size(), 1U);
  EXPECT_EQ(reader_.paces()[0].from_round, 9U);
  Bytes later;
  add(later, format::RoundRecord::lost_round,
      [](Writer& out) { format::Round::write_lost(out, 9, format::RankSet::of_range(0, 1)); });
  add_round(later, 10, "statistics", statistics({{send, 4, 8, 9}}));
  EXPECT_EQ(read(later), (std::vector<std::uint64_t>{9, 10}));
  EXPECT_EQ(events_.at(0).event.name, "MPI_Send") << "names stay known";
}

TEST_F(Rounds, ThatAreDamagedAreLeftOut) {
  Bytes payload = names();
  add_round(payload, 1, "statistics", statistics({{send, 3, 7, 9}}));
  add_round(payload, 2, "none", Bytes(4));
  for (std::size_t size = 0; size < payload.size(); ++size) EXPECT_LT(read(std::span(payload).first(size)).size(), 2U);
  EXPECT_EQ(read(payload).size(), 2U);
  for (std::size_t at = 0; at < payload.size(); ++at) {
    Bytes damaged = payload;
    damaged[at] = ~damaged[at];
    read(damaged);
  }
}

TEST_F(Rounds, WithDamagedStatisticsAreLeftOut) {
  Bytes payload;
  add_round(payload, 1, "statistics", Bytes(3));
  add_round(payload, 2, "none+statistics", Bytes(3));
  add_round(payload, 3, "/my.so", Bytes(3));
  EXPECT_EQ(read(payload), std::vector<std::uint64_t>{3});
}

TEST_F(Rounds, HaveNoEventsWithImpossibleNumbers) {
  const auto is_possible = [this](const Given& event) {
    Bytes payload = names();
    add_round(payload, 1, "statistics", statistics({event}));
    read(payload);
    return events_.size() == 1;
  };
  EXPECT_TRUE(is_possible({send, 0, 0x1p64, 0x1p-32}));
  for (const double wrong : {0x1.01p64, 0x1p-33, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(is_possible({send, wrong, 1, 1})) << wrong;
    EXPECT_FALSE(is_possible({send, 1, wrong, 1})) << wrong;
    EXPECT_FALSE(is_possible({step, 1, 1, wrong})) << wrong;
  }
  EXPECT_TRUE(is_possible({residual, 1, 0, -1e140})) << "the value of a counter may be any number";
  EXPECT_TRUE(is_possible({residual, 1, 0, 1e-300}));
  EXPECT_FALSE(is_possible({residual, 1, 0, 1.1e140}));
  EXPECT_FALSE(is_possible({residual, 1, 0, std::nan("")}));
}

TEST_F(Rounds, OfSeveralHostsAreOne) {
  const auto of = [](const std::string& name, std::uint64_t ranks, double time, std::uint32_t first) {
    const Statistic metric{ranks, time, 0, time, time, first, first};
    return EventStatistics{{name, format::EventKind::function}, {metric, metric, metric}};
  };
  const std::vector<EventStatistics> one{of("b", 2, 1, 0), of("a", 2, 5, 0)}, other{of("b", 4, 4, 2)};
  const std::vector<const std::vector<EventStatistics>*> both{&one, &other};
  const auto found = merged_events(both);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].event.name, "a");
  EXPECT_EQ(found[1].metrics[1].ranks, 6U);
  EXPECT_EQ(found[1].metrics[1].mean, 3);
  EXPECT_DOUBLE_EQ(found[1].metrics[1].deviation(), std::sqrt(2)) << "of 1, 1, 4, 4, 4, 4";
  EXPECT_EQ(found[1].metrics[1].most_rank, 2U);
}

Bytes histograms(const std::vector<format::EventKey>& keys, const std::vector<Bins>& bins) {
  Bytes all;
  Writer out(all);
  out.put(16U);
  out.put(static_cast<std::uint32_t>(keys.size()));
  out.put_all(keys);
  for (const Bins& each : bins) each.histogram.write(out, each.counts);
  return all;
}

TEST_F(Rounds, HaveHistogramsOfTheMainMetric) {
  const Bins calls{{0, 3, 1}, {4}}, times{{4, 10, 3}, {1, 0, 3}}, size{{2, 0, 1}, {4}}, nobody{};
  Bytes payload = names();
  add_round(payload, 1, "histogram:16", histograms({send, residual}, {calls, times, size, calls, calls, size}));
  read(payload);
  ASSERT_EQ(bins_.size(), 2U);
  EXPECT_EQ(bins_[0].bins, times);
  EXPECT_EQ(bins_[1].bins, size);
  EXPECT_EQ(bins_[1].event.name, "residual");
  payload.clear();
  add_round(payload, 2, "histogram:16:time", histograms({send, step}, {times, nobody}));
  read(payload);
  ASSERT_EQ(bins_.size(), 1U) << "no rank has had the other";
  EXPECT_EQ(bins_[0].bins, times);
  EXPECT_TRUE(has_histograms("none+histogram:16:time"));
  EXPECT_FALSE(has_histograms("none+/histogram.so"));
}

TEST(Bins, BecomeWider) {
  const Bins bins{{4, 10, 3}, {1, 0, 3}};
  EXPECT_EQ(bins.widened(4), bins);
  EXPECT_EQ(bins.widened(5), (Bins{{5, 5, 2}, {1, 3}}));
  EXPECT_EQ(bins.widened(200).counts, std::vector<std::uint32_t>{4});
}

TEST(Bins, OfSeveralFilesLieInTheWidest) {
  const std::vector<Bins> near{{{4, 10, 1}, {4}}, {{3, 24, 2}, {1, 1}}};
  EXPECT_EQ(merged_bins(near), (Bins{{4, 10, 3}, {4, 0, 2}}));
  const std::vector<Bins> far{{{0, 0, 1}, {1}}, {{0, std::uint64_t{1} << 62, 1}, {2}}, {{62, 1, 1}, {4}}};
  const Bins found = merged_bins(far);
  EXPECT_EQ(found.counts, (std::vector<std::uint32_t>{1, 6}));
  const std::vector<Bins> apart{{{0, 0, 1}, {1}}, {{0, 4095, 1}, {1}}};
  EXPECT_EQ(merged_bins(apart).counts.size(), 4096U);
  const std::vector<Bins> further{{{0, 0, 1}, {1}}, {{0, 4096, 1}, {1}}};
  EXPECT_EQ(merged_bins(further).counts.size(), 2049U);
}

}  // namespace
}  // namespace tare::reader
