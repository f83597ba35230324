#include "format/ring.h"

#include <gtest/gtest.h>

#include <string>

namespace tare::format {
namespace {

TEST(Ring, PositionsAreOfSubBuffersWithTheirHeads) {
  constexpr RingShape ring{4, 1000, Policy::block};
  EXPECT_EQ(ring.stride(), 1064U);
  EXPECT_EQ(ring.total(), 4 * 1064U);
  EXPECT_EQ(ring.begin(5), 5 * 1064U + 64);
  EXPECT_EQ(ring.end(5), 6 * 1064U);
  EXPECT_EQ(ring.ordinal(ring.begin(5)), 5U);
  EXPECT_EQ(ring.ordinal(ring.end(5)), 5U);
  EXPECT_EQ(ring.ordinal(ring.end(5) + 1), 6U);
  EXPECT_EQ(ring.place(5), 1064U);
}

TEST(Ring, ChunksAreNumberedOneAfterAnother) {
  EXPECT_EQ((RingShape{4, 4096, Policy::block}.sequence_behind(5, 10, 2)), 12U);
  EXPECT_EQ((RingShape{4, 4096, Policy::drop}.sequence_behind(5, 10, 2)), 12U);
  EXPECT_EQ((RingShape{4, 4096, Policy::overwrite}.sequence_behind(5, 10, 2)), 6 * 3U)
      << "three of each, if written or not";
}

TEST(Ring, WhatWasDrainedIsAWord) {
  constexpr Drained drained{7, 9};
  EXPECT_EQ(drained.word(), 0x900000007U);
  EXPECT_EQ(Drained::of(drained.word()).sub_buffers, 7U);
  EXPECT_EQ(Drained::of(drained.word()).sequence, 9U);
  EXPECT_EQ(drained.waiting(6), 0U);
  EXPECT_EQ(drained.waiting(7), 1U);
  EXPECT_EQ(drained.waiting(9), 3U);
  EXPECT_TRUE(drained.has_passed(6));
  EXPECT_FALSE(drained.has_passed(7));
  // The number of sub-buffers is modulo 2^32.
  constexpr Drained many{2, 0};
  EXPECT_EQ(many.waiting((std::uint64_t{1} << 32U) + 4), 3U);
  EXPECT_TRUE(many.has_passed((std::uint64_t{1} << 32U) + 1));
  EXPECT_TRUE(many.has_passed(UINT32_MAX));
}

template <typename Record>
std::string bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

// Calls that end at these times, each followed by a completion.
std::string calls(std::initializer_list<std::uint64_t> ends) {
  std::string records;
  for (const std::uint64_t end : ends) {
    CallRecord call{};
    call.head = {1, sizeof call / 8};
    call.leave = end;
    records += bytes_of(call) + bytes_of(CompletionRecord{{completion, sizeof(CompletionRecord) / 8}, 1, 8, 0, 0});
  }
  return records;
}

TEST(Ring, RecordsAreCountedUpToOneThatMakesNoSense) {
  const std::string records = calls({10, 20});
  EXPECT_EQ(count_records(records.data(), records.size()), 4U);
  EXPECT_EQ(count_records(records.data(), records.size() - 1), 3U);
  EXPECT_EQ(count_records(records.data(), 7), 0U);
  const std::string wrong = records + bytes_of(RecordHead{1, 0}) + records;
  EXPECT_EQ(count_records(wrong.data(), wrong.size()), 4U);
}

TEST(Ring, OlderRecordsAreSkipped) {
  const std::string records = calls({10, 20, 30});
  const std::uint64_t each = records.size() / 3;
  const auto skipped = [&](std::uint64_t ticks) { return skip_older(records.data(), records.size(), ticks) / each; };
  EXPECT_EQ(skipped(0), 0U);
  EXPECT_EQ(skipped(10), 0U);
  EXPECT_EQ(skipped(11), 1U);
  EXPECT_EQ(skipped(20), 1U);
  EXPECT_EQ(skipped(21), 2U);
  EXPECT_EQ(skip_older(records.data(), records.size(), 31), records.size());
  EventRecord moment{};
  moment.head = {event, sizeof moment / 8};
  moment.time = 15;
  const std::string moments = bytes_of(moment) + records;
  EXPECT_EQ(skip_older(moments.data(), moments.size(), 15), 0U);
  EXPECT_EQ(skip_older(moments.data(), moments.size(), 16), sizeof moment + each);
}

}  // namespace
}  // namespace tare::format
