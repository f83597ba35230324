#include "format/column.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace tare::format {
namespace {

std::vector<char> encoded(const std::vector<std::int64_t>& values) {
  std::vector<char> out(column_bound(values.size()));
  out.resize(static_cast<std::size_t>(encode_column(values.data(), values.size(), out.data()) - out.data()));
  return out;
}

void expect_round_trip(const std::vector<std::int64_t>& values) {
  const auto bytes = encoded(values);
  std::vector<std::int64_t> back(values.size());
  const char* end = bytes.data() + bytes.size();
  ASSERT_EQ(decode_column(bytes.data(), end, back.data(), back.size()), end);
  EXPECT_EQ(back, values);
}

TEST(Column, Constant) {
  EXPECT_EQ(encoded(std::vector<std::int64_t>(1000, 0)).size(), 2U);
  EXPECT_EQ(encoded(std::vector<std::int64_t>(1000, -1)).size(), 3U);
  EXPECT_EQ(encoded(std::vector<std::int64_t>(1000, 300)).size(), 4U);
}

TEST(Column, Extremes) {
  expect_round_trip({});
  expect_round_trip({0});
  expect_round_trip({INT64_MIN, INT64_MAX, 0, -1, 1});
  expect_round_trip({INT32_MIN, 5, INT32_MAX});
  for (int shift = 0; shift < 64; ++shift) {
    const std::uint64_t edge = std::uint64_t{1} << shift;
    expect_round_trip({static_cast<std::int64_t>(edge)});
    expect_round_trip(
        {static_cast<std::int64_t>(edge - 1), static_cast<std::int64_t>(edge), static_cast<std::int64_t>(-edge)});
  }
}

std::vector<char> sparse(const std::vector<std::int64_t>& values, std::int64_t usual) {
  const auto others = std::make_unique<OtherValues<4096>>();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != usual) others->add(i, values[i]);
  std::vector<std::int64_t> scratch(values.size());
  std::vector<char> out(column_bound(values.size()));
  const char* end = encode_sparse_column(others->places, others->values, others->count, values.size(), usual,
                                         scratch.data(), out.data());
  out.resize(static_cast<std::size_t>(end - out.data()));
  return out;
}

TEST(Column, OfFewOthersOnlyTheyAreWritten) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> values(random() % 4000, 1);
    const std::size_t others = random() % 20;
    for (std::size_t i = 0; i < others && !values.empty(); ++i)
      values[random() % values.size()] = static_cast<std::int64_t>(random());
    const auto bytes = sparse(values, 1);
    if (others * 8 < values.size()) {
      EXPECT_LE(bytes.size(), 4 + 20 + others * 10);
    }
    std::vector<std::int64_t> back(values.size(), 77);
    const char* end = bytes.data() + bytes.size();
    ASSERT_EQ(decode_column(bytes.data(), end, back.data(), back.size()), end);
    EXPECT_EQ(back, values);
  }
}

TEST(Column, OfManyOthersAllAreWritten) {
  std::vector<std::int64_t> values(100, 1);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = 5;
  EXPECT_EQ(sparse(values, 1), encoded(values));
}

TEST(Column, ASparseOneThatCannotBeIsRefused) {
  std::vector<std::int64_t> values(100, 1);
  values[3] = 4;
  values[90] = 5;
  const auto bytes = sparse(values, 1);
  std::vector<std::int64_t> back(100);
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_EQ(decode_column(bytes.data(), bytes.data() + n, back.data(), back.size()), nullptr) << n;
  const auto decode = [&](std::size_t at, int value, std::size_t n) {
    auto copy = bytes;
    copy[at] = static_cast<char>(value);
    return decode_column(copy.data(), copy.data() + copy.size(), back.data(), n);
  };
  EXPECT_NE(decode(5, 3, 100), nullptr);
  EXPECT_EQ(decode(5, 90, 100), nullptr) << "the same place twice";
  EXPECT_EQ(decode(7, 2, 100), nullptr) << "not ascending";
  EXPECT_EQ(decode(7, 100, 100), nullptr) << "behind the end";
  EXPECT_EQ(decode(9, 0x40, 100), nullptr) << "one within another";
  EXPECT_EQ(decode(3, 3, 2), nullptr) << "more others than values";
}

TEST(Column, RandomWidths) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> values(random() % 300);
    const unsigned shift = random() % 64;
    const auto offset = static_cast<std::int64_t>(random());
    for (auto& v : values) v = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + (random() >> shift));
    expect_round_trip(values);
  }
}

TEST(Column, DifferencesWhereTheyAreNarrower) {
  const auto round_trip = [](const std::vector<std::int64_t>& values) {
    std::vector<char> out(column_bound(values.size()));
    std::vector<std::int64_t> scratch(values.size());
    const char* end = encode_shorter_column(values.data(), values.size(), scratch.data(), out.data());
    std::vector<std::int64_t> back(values.size());
    EXPECT_EQ(decode_column(out.data(), end, back.data(), back.size()), end);
    EXPECT_EQ(back, values);
    for (const char* cut = out.data(); cut < end; ++cut)
      EXPECT_EQ(decode_column(out.data(), cut, back.data(), back.size()), nullptr);
    return end - out.data();
  };
  std::vector<std::int64_t> loop(1000);
  for (std::size_t i = 0; i < loop.size(); ++i) loop[i] = static_cast<std::int64_t>(1'000'000 + 3 * i);
  EXPECT_LT(round_trip(loop), 16);
  round_trip({1, 2});
  round_trip({INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN});
  std::mt19937_64 random(5);
  for (auto& value : loop) value = static_cast<std::int64_t>(random());
  round_trip(loop);
}

TEST(Column, CutOffAnywhereIsRefused) {
  const auto bytes = encoded({1, 70000, -5, 12});
  std::vector<std::int64_t> back(4);
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_EQ(decode_column(bytes.data(), bytes.data() + n, back.data(), 4), nullptr) << n;
}

}  // namespace
}  // namespace tare::format
