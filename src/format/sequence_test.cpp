#include "format/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

namespace tare::format {
namespace {

constexpr std::size_t most = 1000;

struct Misses {
  std::vector<std::int64_t> runs, missed;
};

class Sequence : public ::testing::Test {
 protected:
  // Numbers are given in the order in which signatures are seen first, as the encoder does.
  Misses write(const std::vector<std::uint16_t>& numbers) {
    SequenceWriter<most> writer(*tables_, signatures_);
    signatures_ = 0;
    for (const std::uint16_t number : numbers) {
      const std::uint32_t expected = writer.expected();
      if (signatures_ != 0 && expected == number)
        writer.add_expected(expected);
      else
        writer.add_unexpected(number);
      signatures_ = std::max(signatures_, number + std::size_t{1});
    }
    const std::uint32_t n = writer.misses();
    return {{tables_->runs, tables_->runs + n}, {tables_->missed, tables_->missed + n}};
  }
  void expect_round_trip(const std::vector<std::uint16_t>& numbers) {
    const Misses misses = write(numbers);
    std::vector<std::uint16_t> back;
    ASSERT_TRUE(decode_sequence(misses.runs, misses.missed, numbers.size(), signatures_, back));
    EXPECT_EQ(back, numbers);
  }

  std::unique_ptr<SequenceTables<most>> tables_ = std::make_unique<SequenceTables<most>>();
  std::size_t signatures_ = 0;
};

TEST_F(Sequence, ALoopIsWrittenOnce) {
  std::vector<std::uint16_t> numbers;
  for (std::size_t i = 0; i < most; ++i) numbers.push_back(static_cast<std::uint16_t>(i % 5));
  EXPECT_EQ(write(numbers).missed.size(), 5U);
  expect_round_trip(numbers);
}

TEST_F(Sequence, WhatOneEncodedBeforeIsForgotten) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint16_t> numbers(random() % (most + 1));
    const unsigned signatures = 1 + random() % 20;
    const unsigned surprise = 1 + random() % 30;
    std::uint16_t known = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const bool repeats = known != 0 && i >= 7 && random() % surprise != 0;
      numbers[i] = repeats ? numbers[i - 7] : static_cast<std::uint16_t>(random() % std::min(known + 1U, signatures));
      known = std::max(known, static_cast<std::uint16_t>(numbers[i] + 1));
    }
    expect_round_trip(numbers);
  }
}

TEST_F(Sequence, WhatCannotBeIsRefused) {
  std::vector<std::uint16_t> numbers;
  EXPECT_TRUE(decode_sequence({}, {}, 0, 0, numbers));
  EXPECT_TRUE(decode_sequence({0, 0}, {0, 1}, 4, 2, numbers));
  EXPECT_FALSE(decode_sequence({}, {}, 1, 1, numbers)) << "nothing to repeat";
  EXPECT_FALSE(decode_sequence({1}, {0}, 2, 1, numbers)) << "nothing to repeat";
  EXPECT_FALSE(decode_sequence({0}, {1}, 1, 1, numbers)) << "an unknown signature";
  EXPECT_FALSE(decode_sequence({0}, {-1}, 1, 1, numbers));
  EXPECT_FALSE(decode_sequence({0, 2}, {0, 0}, 3, 1, numbers)) << "a run to the end, and one more";
  EXPECT_FALSE(decode_sequence({0, -1}, {0, 0}, 3, 1, numbers));
  EXPECT_FALSE(decode_sequence({0, 0}, {0, 0}, 1, 1, numbers)) << "more than there are";
}

}  // namespace
}  // namespace tare::format
