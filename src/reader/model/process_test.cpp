#include "reader/model/process.h"

#include <gtest/gtest.h>

namespace tare::reader {
namespace {

// The rate of the clock changes after half of the time: a tick is first 1 ns, then 1.001 ns.
TEST(Process, ASpanEndsAtTheTimeOfItsEnd) {
  constexpr std::uint64_t half = 10'000'000;
  Process process;
  process.clock = ClockMap({1, 1}, 1, {{1 + half, 1 + half}, {1 + 2 * half, 1 + 2 * half + half / 1000}}, 1);
  const std::uint64_t enter = half / 2, leave = half / 2 + 5'000'000;
  EXPECT_NE(process.clock.duration_ns(leave - enter), process.span_ns(enter, leave)) << "the mean rate is another";
  EXPECT_EQ(process.time_of(enter) + process.span_ns(enter, leave), process.time_of(leave));
  EXPECT_EQ(process.span_ns(leave, enter), 0);
  EXPECT_GE(process.span_ns(0, UINT64_MAX), 0);
}

}  // namespace
}  // namespace tare::reader
