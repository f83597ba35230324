#include "recorder/commit_call.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "recorder/clock.h"
#include "recorder/testing/made_location.h"

namespace tare::recorder {
namespace {

constexpr std::uint16_t function = 700;

struct CommitCallTest : testing::Test {
  CommitCallTest() {
    choose_clock();
    location.events.open_sub_buffer(0);
  }
  void commit(std::uint64_t enter, std::uint64_t leave, std::uint64_t bytes, std::uint32_t object = 0,
              std::vector<std::uint64_t> arguments = {}, std::uint32_t site = 5) {
    commit_call(location, {function, site, object, object, enter, leave, bytes, arguments}, known);
  }
  const format::ProfileRow& row() const { return location.profile.rows[known.by_size[known.last]]; }
  const format::SourceCallRecord* record(std::size_t at) {
    return reinterpret_cast<const format::SourceCallRecord*>(
        reinterpret_cast<const char*>(&location.events.sub_buffer(0) + 1) + at);
  }

  MadeLocation made{64, {2, 4096, format::Policy::drop}};
  Location& location = made.location;
  KnownRows known{};
};

TEST_F(CommitCallTest, ACallIsAddedToTheRowOfItsSiteFunctionSizeAndObject) {
  commit(100, 150, 4096);
  commit(200, 230, 5000);
  const format::ProfileRow& first = row();
  EXPECT_EQ(first.site, 5U);
  EXPECT_EQ(first.function, function);
  EXPECT_EQ(first.calls, 2U);
  EXPECT_EQ(first.ticks, 80U);
  EXPECT_EQ(first.ticks_min, 30U);
  EXPECT_EQ(first.ticks_max, 50U);
  EXPECT_EQ(first.bytes, 9096U);
  EXPECT_EQ(first.communicator, 0U);
  commit(300, 310, 4096, 3);
  EXPECT_NE(&row(), &first) << "another object";
  EXPECT_EQ(row().communicator, 3U);
  commit(400, 410, format::no_bytes);
  EXPECT_EQ(row().size_class, format::no_size);
  EXPECT_EQ(row().bytes, 0U);
  EXPECT_EQ(location.shared().summary.rows, 1U + 3U);
}

TEST_F(CommitCallTest, ItIsARecordWithItsArguments) {
  commit(100, 150, 8, 3, {8, 4, 0});
  commit(200, 210, format::no_bytes);
  const format::SourceCallRecord& first = *record(0);
  EXPECT_EQ(first.head.kind, format::source_call);
  EXPECT_EQ(first.head.words, 4U + 3U);
  EXPECT_EQ(first.function, function);
  EXPECT_EQ(first.enter, 100U);
  EXPECT_EQ(first.leave, 150U);
  EXPECT_EQ(first.site, 5U);
  EXPECT_EQ(first.object, 3U);
  const auto* arguments = reinterpret_cast<const std::uint64_t*>(&first + 1);
  EXPECT_EQ(std::vector<std::uint64_t>(arguments, arguments + 3), (std::vector<std::uint64_t>{8, 4, 0}));
  EXPECT_EQ(record(56)->head.words, 4U) << "without arguments";
  EXPECT_EQ(record(56)->enter, 200U);
  EXPECT_EQ(location.events.open_bytes(), 56U + 32U);
}

TEST_F(CommitCallTest, WithoutATraceThereIsNoRecord) {
  location.events.suspend(Suspension::gap);
  commit(100, 150, 8);
  EXPECT_EQ(location.events.open_bytes(), 0U);
  EXPECT_EQ(row().calls, 1U);
}

TEST_F(CommitCallTest, ARecordWithoutRoomIsCounted) {
  for (int i = 0; i < 2 * 4096 / 32; ++i) commit(100, 150, 8);
  EXPECT_EQ(row().calls, 256U);
  EXPECT_GT(location.shared().summary.dropped, 0U);
}

TEST_F(CommitCallTest, OfAPausedThreadNothingIsAdded) {
  location.pause();
  commit(100, 150, 8);
  EXPECT_EQ(location.shared().summary.rows, 1U);
  EXPECT_EQ(location.events.open_bytes(), 0U);
  location.resume();
  commit(100, 150, 8);
  EXPECT_EQ(row().calls, 1U);
}

TEST_F(CommitCallTest, PhasesCountCallsOfMpiAlone) {
  location.enter_phase(7);
  commit(100, 150, 8);
  EXPECT_EQ(row().calls, 1U);
  EXPECT_EQ(location.phases.current->calls, 0U);
  EXPECT_EQ(location.phases.current->mpi_ticks, 0U);
  EXPECT_EQ(location.phases.current->bytes, 0U);
}

}  // namespace
}  // namespace tare::recorder
