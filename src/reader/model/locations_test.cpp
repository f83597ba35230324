#include "reader/model/locations.h"

#include <gtest/gtest.h>

#include "reader/run/run.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ProcessRecord;
using format::ProcessState;

std::string sends(unsigned count) {
  std::string records;
  for (unsigned i = 0; i < count; ++i) records += bytes_of(call_record("MPI_Send", 1, 3000 + 10 * i, 3005 + 10 * i));
  return records;
}

std::string profile_of(const ProcessRecord& process, std::uint32_t block, format::LocationSummary summary,
                       std::uint64_t calls) {
  const format::ProfileRow row = profile_row("MPI_Send", 1, calls, 100 * calls, 0);
  summary.rows = 1;
  format::ChunkHeader identity{};
  identity.type = format::ChunkType::profile;
  identity.process = process.process;
  identity.location = block;
  return chunk(identity, bytes_of(summary) + bytes_of(row));
}

TEST(LocationsTest, EachHasItsOwnCounts) {
  const TempDir dir;
  const ProcessRecord a = process_record(0, ProcessState::exited);
  const ProcessRecord b = process_record(1, ProcessState::exited);
  format::LocationSummary first{};
  first.flushes = 1;
  first.flush_ticks = 500;
  first.flush_bytes = 77;
  format::LocationSummary second{};
  second.number = 4;
  second.dropped = 6;
  const std::string flush = bytes_of(format::FlushRecord{{format::flush, 4}, 30, 4000, 4500, 77});
  const std::string chunks[] = {events_chunk(a, 0, 0, sends(30)), events_chunk(a, 0, 1, flush + sends(5)),
                                events_chunk(a, 1, 0, sends(7)), events_chunk(b, 2, 0, sends(3))};
  dir.write("n.tare", functions_chunk() + process_chunk(a) + process_chunk(b) + chunks[0] + chunks[1] + chunks[2] +
                          chunks[3] + profile_of(a, 0, first, 35) + profile_of(a, 1, second, 13));
  auto run = Run::open({dir.path(), "", run_id});
  ASSERT_TRUE(run) << run.error();
  const auto& locations = run->locations();
  ASSERT_EQ(locations.size(), 3U);
  EXPECT_EQ(locations[0].totals.calls, 35U);
  EXPECT_EQ(locations[0].totals.records, 35U) << "the flush is none";
  EXPECT_EQ(locations[0].totals.stored_bytes, chunks[0].size() + chunks[1].size());
  EXPECT_EQ(locations[0].totals.flush_ticks, 500U);
  EXPECT_EQ(locations[1].block, 1U);
  EXPECT_EQ(locations[1].thread, 4U);
  EXPECT_EQ(locations[1].totals.dropped, 6U);
  EXPECT_EQ(locations[1].totals.records, 7U);
  EXPECT_EQ(locations[2].process, 1U);
  EXPECT_EQ(locations[2].block, 2U) << "its profile is lost, its events are not";
  EXPECT_EQ(locations[2].totals.records, 3U);
  EXPECT_EQ(locations[2].totals.calls, 0U);
  EXPECT_EQ(locations[0].totals.records + locations[1].totals.records, run->totals(0).records);
}

// A helper thread that waits has no time of the rank. What its readings cost counts, and where it may run.
TEST(LocationsTest, HowAThreadIsScheduledCountsIfItIsOfTheRank) {
  const auto scheduling_of = [](std::int32_t rank) {
    ProcessRecord process = process_record(0, ProcessState::exited);
    process.rank = rank;
    std::vector<format::ProfileRow> of_first = {profile_row("read", 1, 2, 20, 0)};
    if (rank >= 0) of_first.push_back(profile_row("MPI_Init", 1, 1, 10, 0));
    Profile of_helper;
    of_helper.rows = {profile_row("read", 1, 90, 900, 0)};
    of_helper.summary.number = 1;
    format::ChunkHeader identity{};
    identity.type = format::ChunkType::scheduling;
    identity.process = process.process;
    std::string readings;
    for (std::uint32_t block = 0; block < 2; ++block) {
      format::SchedulingSums sums{};
      sums.block = block;
      sums.readings = sums.cost_ticks = 5;
      sums.observed_ns = 1000;
      sums.all = {700, 0, 0};
      sums.outside = {block == 0 ? 100U : 600U, 0, 0};
      sums.switches = 10;
      sums.allowed[0] = 1U << block;
      readings += bytes_of(sums);
    }
    const std::string file = functions_chunk() + process_chunk(process) + profile_chunk(process, 0, of_first) +
                             profile_chunk(process, 1, of_helper) + chunk(identity, readings);
    return std::move(*Run::of_memory(file)).totals(0).scheduling;
  };
  for (const std::int32_t rank : {0, -1}) {
    const format::SchedulingSums found = scheduling_of(rank);
    EXPECT_EQ(found.observed_ns, 1000U) << rank;
    EXPECT_EQ(found.outside.ns, 100U) << rank;
    EXPECT_EQ(found.switches, 10U) << rank;
    EXPECT_EQ(found.readings, 10U) << rank;
    EXPECT_EQ(found.cost_ticks, 10U) << rank;
    EXPECT_EQ(found.allowed[0], 3U) << rank;
  }
}

// The first thread of the rank is the first that calls MPI, whichever thread worked on files before it.
TEST(LocationsTest, TheNetTimeIsThatOfTheFirstThreadThatCallsMpi) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  Profile of_first;
  of_first.rows = {profile_row("read", 1, 2, 20, 0)};
  of_first.phases.resize(2);
  of_first.phases[format::outside_phases].ticks = 4000;
  Profile of_caller;
  of_caller.rows = {profile_row("MPI_Init", 1, 1, 10, 0), profile_row("MPI_Send", 1, 1, 10, 0)};
  of_caller.phases = of_first.phases;
  of_caller.summary.number = 1;
  const auto totals_of = [&](const Profile& a, const Profile& b) {
    const std::string file =
        functions_chunk() + process_chunk(process) + profile_chunk(process, 0, a) + profile_chunk(process, 1, b);
    return std::move(*Run::of_memory(file)).totals(0);
  };
  EXPECT_EQ(totals_of(of_first, of_caller).other_ticks, 0U);
  EXPECT_EQ(totals_of(of_first, of_caller).other_recorded_ns, 4000) << "of the thread that reads";
  EXPECT_EQ(totals_of(of_caller, of_caller).other_ticks, 4000U);
}

TEST(LocationsTest, WhatABufferHoldsCounts) {
  const TempDir dir;
  const ProcessRecord process = process_record(0, ProcessState::running);
  Segment segment(dir, process);
  segment.add_location();
  segment.add_location();
  segment.add_record(1, sends(9));
  dir.write("n.tare", functions_chunk() + process_chunk(process));
  auto run = Run::open({dir.path(), dir.path(), run_id});
  ASSERT_TRUE(run) << run.error();
  const auto& locations = run->locations();
  ASSERT_EQ(locations.size(), 2U);
  EXPECT_EQ(locations[0].totals.records, 0U);
  EXPECT_EQ(locations[1].totals.records, 9U);
}

}  // namespace
}  // namespace tare::reader
