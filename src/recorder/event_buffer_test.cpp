#include "recorder/event_buffer.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "recorder/testing/made_location.h"

namespace tare::recorder {
namespace {

using format::Policy;

constexpr std::uint32_t count = 4, bytes = 1024;

struct EventBufferTest : testing::TestWithParam<Policy> {
  EventBufferTest() { events.open_sub_buffer(0); }
  std::uint64_t room() const { return events.limit - events.head; }
  void append_one() {
    const std::uint64_t value = 9;
    events.append_event(3, 100, &value, 1);
  }
  std::uint64_t fill() {
    std::uint64_t records = 0;
    for (; events.has_room(EventBuffer::event_bytes(1)); ++records) append_one();
    return records;
  }

  MadeLocation made{64, {count, bytes, GetParam()}};
  EventBuffer& events = made.location.events;
  const format::LocationSummary& summary = made.location.shared().summary;
};

TEST_P(EventBufferTest, ASubBufferTakesWhatFits) {
  const std::uint64_t left_free = GetParam() == Policy::drop ? sizeof(format::LossRecord) : 0;
  EXPECT_EQ(room(), bytes - left_free);
  const std::uint64_t records = fill();
  EXPECT_EQ(records, (bytes - left_free) / EventBuffer::event_bytes(1));
  EXPECT_EQ(made.location.shared().head, events.head) << "a reader sees the records";
  EXPECT_EQ(summary.api_events, records);
}

TEST_P(EventBufferTest, RecordsLieOneBehindTheOther) {
  append_one();
  const char text[] = "abc";
  events.append_raw_event(4, 101, text, 3);
  events.append_raw_event(4, 102, text, 0);
  const auto* record = reinterpret_cast<const char*>(&events.sub_buffer(0) + 1);
  EXPECT_EQ(format::count_records(record, events.open_bytes()), 3U);
  const auto& first = *reinterpret_cast<const format::EventRecord*>(record);
  EXPECT_EQ(first.type, 3U);
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(&first + 1), 9U);
  const auto& raw = *reinterpret_cast<const format::RawEventRecord*>(record + EventBuffer::event_bytes(1));
  EXPECT_EQ(raw.bytes, 3U);
  EXPECT_EQ(std::memcmp(&raw + 1, "abc\0\0\0\0\0", 8), 0) << "padded with zeros";
  EXPECT_EQ(events.open_bytes(), 24U + 32U + 24U);
  EXPECT_EQ(summary.api_events, 3U) << "events of bytes cost, too";
}

TEST_P(EventBufferTest, TheRingIsFullWhenTheNextSubBufferWasNotDrained) {
  for (std::uint32_t i = 1; i < count; ++i) {
    EXPECT_FALSE(events.is_full(events.drained()));
    fill();
    events.next_sub_buffer();
  }
  EXPECT_TRUE(events.is_full(events.drained()));
  EXPECT_EQ(events.waiting_bytes(), std::uint64_t{count - 1} * bytes);
  events.shared->drained = format::Drained{1, 1}.word();
  EXPECT_FALSE(events.is_full(events.drained()));
}

TEST_P(EventBufferTest, ItIsOpenAgainWhenAllSuspensionsHaveEnded) {
  const std::uint64_t before = room();
  events.suspend(Suspension::gap);
  events.suspend(Suspension::pause);
  events.suspend(Suspension::pause);
  EXPECT_FALSE(events.is_open());
  EXPECT_TRUE(events.has_trace());
  EXPECT_FALSE(events.has_room(8));
  events.resume(Suspension::pause);
  EXPECT_FALSE(events.is_open());
  events.resume(Suspension::gap);
  EXPECT_EQ(room(), before);
  events.resume(Suspension::gap);
  EXPECT_EQ(room(), before);
}

// A drain of a thread that is paused.
TEST_P(EventBufferTest, ASubBufferThatOpensWhileSuspendedIsOpenLater) {
  events.suspend(Suspension::pause);
  events.open_sub_buffer(1);
  EXPECT_FALSE(events.is_open());
  events.resume(Suspension::pause);
  EXPECT_EQ(events.open_ordinal(), 1U);
  EXPECT_GT(room(), 0U);
}

TEST_P(EventBufferTest, DroppedRecordsAreOneGap) {
  fill();
  events.drop(500);
  events.drop(600);
  ASSERT_NE(events.loss, nullptr);
  EXPECT_EQ(events.loss->records, 2U);
  EXPECT_EQ(events.loss->enter, 500U);
  EXPECT_EQ(events.loss->leave, 600U);
  EXPECT_EQ(summary.dropped, 2U);
  events.next_sub_buffer();
  EXPECT_EQ(events.loss, nullptr);
}

TEST_P(EventBufferTest, TheOldestSubBufferMakesRoom) {
  for (std::uint32_t i = 1; i < count; ++i, events.next_sub_buffer()) fill();
  const format::Drained drained = events.drained();
  events.drop_oldest(drained);
  EXPECT_FALSE(events.is_full(events.drained()));
  EXPECT_EQ(events.drained().sub_buffers, 1U);
  EXPECT_EQ(summary.dropped, 0U) << "a flight recorder is meant to";
  const std::uint64_t overwritten = summary.overwritten_bytes;
  EXPECT_GT(overwritten, bytes / 2);
  events.drop_oldest(drained);
  EXPECT_EQ(summary.overwritten_bytes, overwritten) << "tared was faster";
  events.keep_newest(ENOSPC);
  EXPECT_EQ(events.ring.policy, Policy::overwrite);
  EXPECT_EQ(summary.full, format::kept_newest | format::no_space);
  events.drop_oldest(events.drained());
  EXPECT_GT(summary.dropped, 0U) << "now they are a loss";
  EXPECT_EQ(summary.events, summary.dropped);
}

TEST_P(EventBufferTest, CalibrationLeavesNoTrace) {
  append_one();
  const EventBuffer::Mark mark = events.mark();
  const std::uint64_t head = events.head;
  append_one();
  events.rewind(mark);
  EXPECT_EQ(events.head, head);
  EXPECT_EQ(made.location.shared().head, head);
  EXPECT_EQ(summary.api_events, 1U);
}

TEST_P(EventBufferTest, ADrainIsAnEventAndACost) {
  events.note_drain(12, 100, 130, 4096);
  EXPECT_EQ(summary.flushes, 1U);
  EXPECT_EQ(summary.flush_ticks, 30U);
  const auto& record = *reinterpret_cast<const format::FlushRecord*>(&events.sub_buffer(0) + 1);
  EXPECT_EQ(record.head.kind, format::flush);
  EXPECT_EQ(record.records, 12U);
  EXPECT_EQ(record.bytes, 4096U);
}

INSTANTIATE_TEST_SUITE_P(OfEachPolicy, EventBufferTest,
                         testing::Values(Policy::block, Policy::drop, Policy::overwrite));

}  // namespace
}  // namespace tare::recorder
