#include "format/spans.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace tare::format {
namespace {

struct Spans {
  std::vector<std::uint64_t> gaps, durations;
  void add(std::uint64_t gap, std::uint64_t duration) {
    gaps.push_back(gap);
    durations.push_back(duration);
  }
};

std::vector<char> encoded(const Spans& spans) {
  const std::size_t n = spans.gaps.size();
  std::vector<unsigned char> widths(n);
  std::vector<unsigned char> bits(SpanWriter::bits_bound(n));
  SpanWriter writer;
  writer.begin(widths.data(), bits.data());
  for (std::size_t i = 0; i < n; ++i) writer.add(spans.gaps[i], spans.durations[i]);
  std::vector<char> out(widths.begin(), widths.end());
  out.insert(out.end(), bits.data(), writer.finish());
  return out;
}

// On the heap and of exact size, so that AddressSanitizer sees a read outside.
bool decodes(const std::vector<char>& bytes, std::size_t n, std::vector<std::uint64_t>& enter,
             std::vector<std::uint64_t>& duration) {
  const auto copy = std::make_unique<char[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  enter.resize(n);
  duration.resize(n);
  return decode_spans(copy.get(), copy.get() + bytes.size(), 1000, n, enter.data(), duration.data());
}

void expect_round_trip(const Spans& spans) {
  std::vector<std::uint64_t> enter;
  std::vector<std::uint64_t> duration;
  ASSERT_TRUE(decodes(encoded(spans), spans.gaps.size(), enter, duration));
  EXPECT_EQ(duration, spans.durations);
  std::uint64_t time = 1000;
  for (std::size_t i = 0; i < enter.size(); ++i) {
    EXPECT_EQ(enter[i], time + spans.gaps[i]) << i;
    time = enter[i] + duration[i];
  }
}

TEST(Spans, EveryWidthComesBack) {
  Spans spans;
  for (unsigned shift = 0; shift < 64; ++shift)
    for (const std::uint64_t less : {2, 1, 0}) {
      const std::uint64_t edge = (std::uint64_t{1} << shift) - less;
      spans.add(edge, edge);
      spans.add(edge, 7);
      spans.add(0, edge);
    }
  expect_round_trip(spans);
  for (std::size_t i = 0; i < spans.gaps.size(); ++i) expect_round_trip({{spans.gaps[i]}, {spans.durations[i]}});
}

TEST(Spans, RandomOnesComeBack) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    Spans spans;
    const unsigned shortest = random() % 64;
    for (std::size_t i = random() % 300 + 1; i != 0; --i)
      spans.add(random() >> (shortest + random() % (64 - shortest)), random() >> random() % 64);
    expect_round_trip(spans);
  }
}

TEST(Spans, ShortOnesAreSmall) {
  Spans spans;
  for (int i = 0; i < 1000; ++i) spans.add(100, 60);
  EXPECT_LE(encoded(spans).size(), 1000U + 11 * 1000 / 8 + 10);
}

TEST(Spans, WhatIsCutOffOrTooLongIsRefused) {
  Spans spans;
  for (const std::uint64_t gap : {1ULL, 300ULL, 1ULL << 40, ~0ULL}) spans.add(gap, gap / 3);
  auto bytes = encoded(spans);
  std::vector<std::uint64_t> enter;
  std::vector<std::uint64_t> duration;
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_FALSE(decodes({bytes.data(), bytes.data() + n}, spans.gaps.size(), enter, duration)) << n;
  bytes.push_back(0);
  EXPECT_FALSE(decodes(bytes, spans.gaps.size(), enter, duration));
}

}  // namespace
}  // namespace tare::format
