// Channels of a sender, and the choice of messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "mpi/sampling/chooser.h"
#include "mpi/sampling/sends.h"

namespace tare::mpi::sampling {
namespace {

TEST(Channel, IsNamedByAllFourParts) {
  std::set<std::uint64_t> ids;
  for (std::uint64_t key = 1; key <= 4; ++key)
    for (std::int32_t source = 0; source < 8; ++source)
      for (std::int32_t destination = 0; destination < 8; ++destination)
        for (std::int32_t tag = 0; tag < 8; ++tag) ids.insert(channel_of(key, source, destination, tag));
  EXPECT_EQ(ids.size(), 4U * 8 * 8 * 8);
}

TEST(Sends, FindsChannelsAgainHoweverMany) {
  auto sends = std::make_unique<Sends>();
  constexpr std::uint32_t many = 20'000;
  for (std::uint32_t i = 0; i < many; ++i) {
    SendChannel channel{};
    channel.communicator = 1 + i % 2;
    channel.peer = static_cast<std::int32_t>(i % 100);
    channel.tag = static_cast<std::int32_t>(i / 100);
    channel.count = i;
    ASSERT_NE(sends->add(channel), nullptr);
  }
  for (std::uint32_t i = 0; i < many; ++i) {
    const std::uint32_t communicator = 1 + i % 2;
    const auto peer = static_cast<std::int32_t>(i % 100);
    const auto tag = static_cast<std::int32_t>(i / 100);
    const SendChannel* channel = sends->find(communicator, peer, tag);
    ASSERT_NE(channel, nullptr);
    EXPECT_EQ(channel->count, i);
    EXPECT_EQ(sends->recent(communicator, peer, tag), channel);
  }
  EXPECT_EQ(sends->find(3, 0, 0), nullptr);
  ASSERT_NE(sends->find(1, 0, 0), nullptr);
  sends->remove(1);
  EXPECT_EQ(sends->find(1, 0, 0), nullptr);
  EXPECT_NE(sends->find(2, 1, 0), nullptr);
}

TEST(Sends, OverlappingCallsAreAmbiguousAndLaterOnesAreNot) {
  SendChannel channel{};
  bool overlaps = true;
  EXPECT_EQ(Sends::begin(channel, overlaps), 1U);
  EXPECT_FALSE(overlaps);
  EXPECT_FALSE(Sends::end(channel));
  EXPECT_EQ(Sends::begin(channel, overlaps), 2U);
  EXPECT_EQ(Sends::begin(channel, overlaps), 3U);
  EXPECT_TRUE(overlaps);
  EXPECT_TRUE(Sends::end(channel));
  EXPECT_TRUE(Sends::end(channel));
  EXPECT_EQ(Sends::begin(channel, overlaps), 4U);
  EXPECT_FALSE(overlaps);
  EXPECT_FALSE(Sends::end(channel));
}

Spec spec_of(const char* text) {
  Spec spec;
  EXPECT_EQ(nullptr, format::parse_sample_spec(text, spec)) << text;
  return spec;
}

TEST(Choice, BothSidesAgreeAndTheRateIsTheThreshold) {
  Chooser sender;
  Chooser receiver;
  sender.use(spec_of("random:0.05,seed=3"), 0, 1);
  receiver.use(spec_of("random:0.05,seed=3"), 1, 1);
  std::uint64_t chosen = 0;
  constexpr std::uint64_t messages = 200'000;
  for (std::uint64_t channel = 1; channel <= 20; ++channel) {
    for (std::uint64_t number = 1; number <= messages / 20; ++number) {
      const std::uint64_t id = channel_of(channel, 0, 1, 5);
      const bool choice = sender.choose(id, number);
      EXPECT_EQ(choice, receiver.coordinated(id, number));
      chosen += choice;
    }
  }
  // Five standard deviations.
  EXPECT_NEAR(static_cast<double>(chosen), 0.05 * messages, 5 * std::sqrt(messages * 0.05 * 0.95));
  EXPECT_FLOAT_EQ(sender.weight(), 20);
}

// A program with a period: latencies that depend on the number of the message in its channel.
double latency_of(std::uint64_t channel, std::uint64_t number) {
  const double phase = static_cast<double>(number % 8) / 8;
  const double noise = static_cast<double>(mix(channel * 1'000'003 + number) >> 11) * 0x1p-53;
  return 1000 * (1 + phase * phase * 20) * (0.5 - std::log(1 - noise));
}

// Largest distance between the distribution functions of two samples (Kolmogorov and Smirnov).
double distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double most = 0;
  for (std::size_t i = 0, j = 0; i < a.size();) {
    while (j < b.size() && b[j] <= a[i]) ++j;
    ++i;
    most = std::max(most, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                   static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return most;
}

TEST(Choice, OneInAHundredIsDistributedAsAllAre) {
  Chooser chooser;
  chooser.use(spec_of("random:0.01,seed=11"), 0, 1);
  std::vector<double> all;
  std::vector<double> chosen;
  for (std::uint64_t channel = 1; channel <= 100; ++channel) {
    const std::uint64_t id = channel_of(7, 0, static_cast<std::int32_t>(channel), 3);
    for (std::uint64_t number = 1; number <= 5000; ++number) {
      all.push_back(latency_of(channel, number));
      if (chooser.choose(id, number)) chosen.push_back(all.back());
    }
  }
  EXPECT_GT(chosen.size(), 4500U);
  // At the level of 1 %; what is asserted does not change from run to run.
  EXPECT_LT(distance(chosen, all), 1.63 / std::sqrt(static_cast<double>(chosen.size())));
  // The test sees what a choice in step with the program would do.
  std::vector<double> in_step;
  for (std::size_t i = 0; i < all.size(); i += 96) in_step.push_back(all[i]);
  EXPECT_GT(distance(in_step, all), 0.2);
}

TEST(Choice, AThresholdOfOneTakesAll) {
  Chooser chooser;
  chooser.use(spec_of("random:1"), 0, 1);
  for (std::uint64_t number = 1; number <= 100'000; ++number) ASSERT_TRUE(chooser.choose(7, number));
}

TEST(Choice, AnotherSeedChoosesOthers) {
  Chooser one;
  Chooser two;
  one.use(spec_of("random:0.5,seed=1"), 0, 1);
  two.use(spec_of("random:0.5,seed=2"), 0, 1);
  int differ = 0;
  for (std::uint64_t number = 1; number <= 1000; ++number) differ += one.choose(7, number) != two.choose(7, number);
  EXPECT_GT(differ, 400);
  EXPECT_LT(differ, 600);
}

TEST(Choice, ACounterKeepsItsPeriodAndVariance) {
  Chooser chooser;
  chooser.use(spec_of("counter:100,10"), 0, 1);
  std::uint64_t last = 0;
  std::set<std::uint64_t> gaps;
  for (std::uint64_t message = 1; message <= 100'000; ++message) {
    if (!chooser.choose(7, message)) continue;
    gaps.insert(message - last);
    last = message;
  }
  EXPECT_EQ(*gaps.begin(), 90U);
  EXPECT_EQ(*gaps.rbegin(), 110U);
  EXPECT_EQ(gaps.size(), 21U);
}

// Messages of three lines in turn, two of which a counter without variance never finds. No weight of the chosen
// messages could say so.
TEST(Choice, OnlyChanceGivesMessagesAProbability) {
  Chooser chooser;
  chooser.use(spec_of("counter:30,0"), 0, 1);
  std::set<std::uint64_t> lines;
  for (std::uint64_t message = 1; message <= 3000; ++message)
    if (chooser.choose(7, message)) lines.insert(message % 3);
  EXPECT_EQ(lines.size(), 1U);
  for (const char* spec : {"counter:30,0", "counter:30,20", "timer:1ms,0.2ms", "none"}) {
    chooser.use(spec_of(spec), 0, 1);
    EXPECT_EQ(chooser.weight(), 0) << spec;
  }
  chooser.use(spec_of("counter:1,0"), 0, 1);
  EXPECT_EQ(chooser.weight(), 1);
}

TEST(Choice, ATimerWaitsForItsPeriod) {
  recorder::choose_clock();
  const auto before = recorder::read_clock_pair();
  while (recorder::read_ns(CLOCK_MONOTONIC_RAW) < before.monotonic_ns + 5'000'000) {
  }
  const auto after = recorder::read_clock_pair();
  const double rate =
      static_cast<double>(after.ticks - before.ticks) / static_cast<double>(after.monotonic_ns - before.monotonic_ns);
  Chooser chooser;
  chooser.use(spec_of("timer:1ms,0.1ms"), 0, rate);
  int chosen = 0;
  const std::uint64_t start = recorder::read_ns(CLOCK_MONOTONIC_RAW);
  for (std::uint64_t number = 1; recorder::read_ns(CLOCK_MONOTONIC_RAW) < start + 20'000'000; ++number)
    chosen += chooser.choose(7, number);
  EXPECT_GE(chosen, 1);
  EXPECT_LE(chosen, 23);
}

}  // namespace
}  // namespace tare::mpi::sampling
