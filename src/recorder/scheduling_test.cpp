#include "recorder/scheduling.h"

#include <gtest/gtest.h>

#include <vector>

#include "format/scheduling.h"

namespace tare::recorder {
namespace {

using format::OffProcessor;
using format::SchedulingSpan;
using format::SchedulingSums;

struct SpansTest : testing::Test {
  // Off the processor for so long before a call that begins at `end`.
  void add(std::uint64_t end, std::uint64_t off_ns) {
    add_span(sums, spans.data(), {end - off_ns, end, {off_ns, off_ns / 2, 0}, {}});
  }
  std::uint64_t off_ns() const {
    std::uint64_t ns = 0;
    for (std::uint32_t i = 0; i < sums.spans; ++i) ns += spans[i].outside.ns;
    return ns;
  }

  SchedulingSums sums{};
  std::vector<SchedulingSpan> spans = std::vector<SchedulingSpan>(format::max_scheduling_spans);
};

TEST_F(SpansTest, EachIsKeptWhileThereIsRoom) {
  for (std::uint64_t i = 1; i <= format::max_scheduling_spans; ++i) add(i * 1'000'000, 200'000 + i);
  ASSERT_EQ(sums.spans, format::max_scheduling_spans);
  EXPECT_EQ(spans[9].end, 10'000'000U);
  EXPECT_EQ(spans[9].outside.ns, 200'010U);
  EXPECT_EQ(sums.shortest_ns, 100'000U);
}

// A long one stays as it was; the sums are those of all.
TEST_F(SpansTest, ShortOnesAreUnited) {
  std::uint64_t all_ns = 0;
  for (std::uint64_t i = 1; i <= 20 * format::max_scheduling_spans; ++i) {
    const std::uint64_t ns = i == 700 ? 400'000'000 : 200'000;
    add(i * 1'000'000'000, ns);
    all_ns += ns;
  }
  EXPECT_LE(sums.spans, format::max_scheduling_spans);
  EXPECT_GT(sums.spans, format::max_scheduling_spans / 4) << "not more is united than necessary";
  EXPECT_EQ(off_ns(), all_ns);
  std::uint64_t last = 0;
  unsigned long_ones = 0;
  for (std::uint32_t i = 0; i < sums.spans; ++i) {
    EXPECT_LT(spans[i].begin, spans[i].end);
    EXPECT_LE(last, spans[i].begin);
    last = spans[i].end;
    if (spans[i].end == 700'000'000'000U) {
      ++long_ones;
      EXPECT_EQ(spans[i].begin, 699'600'000'000U);
      EXPECT_EQ(spans[i].outside.descheduled_ns, 200'000'000U);
    }
  }
  EXPECT_EQ(long_ones, 1U);
}

TEST_F(SpansTest, OneThatIsShortFollowsAShortOne) {
  add(1'000'000, 50'000);
  add(3'000'000, 30'000);
  add(9'000'000, 150'000);
  add(10'000'000, 10'000);
  ASSERT_EQ(sums.spans, 3U);
  EXPECT_EQ(spans[0].begin, 950'000U);
  EXPECT_EQ(spans[0].end, 3'000'000U);
  EXPECT_EQ(spans[0].outside.ns, 80'000U);
  EXPECT_EQ(spans[0].outside.descheduled_ns, 40'000U);
}

}  // namespace
}  // namespace tare::recorder
