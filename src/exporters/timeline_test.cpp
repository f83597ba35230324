#include "exporters/timeline.h"

#include <gtest/gtest.h>

#include <optional>

#include "reader/testing/synthetic.h"

namespace tare::exporters {
namespace {

using namespace reader;
using namespace reader::synthetic;
using format::CallRecord;
using format::EventClass;
using format::ProcessRecord;
using format::ProcessState;

constexpr std::int64_t second_ns = 1'700'000'000'000'000'000;  // tick 0 of process_record()

// Writes "0 enter 2000 MPI_Send": track, what, tick, name.
class Lines : public TimelineWriter {
 public:
  explicit Lines(const Run& run) : run_(run) {}

  void begin_track(const Track& track) override { EXPECT_EQ(track.number, tracks_++); }
  void enter(const Track& track, std::int64_t time_ns, const Span& span) override {
    add(track, "enter", time_ns, span.row);
  }
  void leave(const Track& track, std::int64_t time_ns, const Span& span) override {
    add(track, "leave", time_ns, span.row);
  }
  void event(const Track& track, std::int64_t time_ns, const EventRow& row) override {
    add(track, "event", time_ns, row);
  }
  void sample(const Track& track, std::int64_t time_ns, const EventRow& row) override {
    add(track, "sample", time_ns, row);
  }
  bool has_failed() const override { return false; }

  std::vector<std::string> lines;

 private:
  void add(const Track& track, const char* what, std::int64_t time_ns, const EventRow& row) {
    lines.push_back(std::to_string(track.number) + " " + what + " " + std::to_string(time_ns - second_ns) + " " +
                    EventStream::name(run_, row));
  }

  const Run& run_;
  std::uint32_t tracks_ = 0;
};

class TimelineTest : public ::testing::Test {
 protected:
  // A process whose only location has these records; regions 1 and 2, a marker 3.
  void write(const std::string& records, std::uint32_t rank = 0) {
    const ProcessRecord process = process_record(rank, ProcessState::exited);
    const std::string log = event_type_definition(1, EventClass::region, "outer") +
                            event_type_definition(2, EventClass::region, "inner") +
                            event_type_definition(3, EventClass::marker, "mark");
    dir_.write("n" + std::to_string(rank) + ".tare", functions_chunk() + process_chunk(process) +
                                                         definitions_chunk(process, log) +
                                                         events_chunk(process, 0, 0, records));
  }
  static std::string call(std::uint64_t enter, std::uint64_t leave) {
    return bytes_of(call_record("MPI_Send", 1, enter, leave));
  }
  static std::string stack_sample(std::uint64_t time) {
    const auto function = static_cast<std::uint32_t>(format::Function::stack_sample);
    return bytes_of(format::SourceCallRecord{
               {format::source_call, sizeof(format::SourceCallRecord) / 8 + 1}, function, time, time, 0, 0}) +
           bytes_of(std::uint64_t{5000});
  }
  static std::string begin(std::uint32_t type, std::uint64_t time) { return event_record(type, time, {1}); }
  static std::string end(std::uint32_t type, std::uint64_t time) { return event_record(type, time, {0}); }
  static std::string mark(std::uint64_t time) { return event_record(3, time); }

  std::vector<std::string> lines(TimelineOptions options = {}) {
    auto run = Run::open({dir_.path(), dir_.path(), run_id});
    EXPECT_TRUE(run) << run.error();
    Lines writer(*run);
    auto summary = write_timeline(*run, std::move(options), writer);
    EXPECT_TRUE(summary) << summary.error();
    summary_ = *summary;
    return writer.lines;
  }
  using Expected = std::vector<std::string>;

  TempDir dir_;
  TimelineSummary summary_;
};

TEST_F(TimelineTest, SpansNest) {
  write(begin(1, 2000) + call(2010, 2020) + begin(2, 2030) + call(2040, 2050) + mark(2055) + end(2, 2060) +
        end(1, 2070));
  EXPECT_EQ(lines(), (Expected{"0 enter 2000 outer", "0 enter 2010 MPI_Send", "0 leave 2020 MPI_Send",
                               "0 enter 2030 inner", "0 enter 2040 MPI_Send", "0 leave 2050 MPI_Send",
                               "0 event 2055 mark", "0 leave 2060 inner", "0 leave 2070 outer"}));
  EXPECT_EQ(summary_.events, 7U);
  EXPECT_EQ(summary_.open + summary_.ends, 0U);
}

TEST_F(TimelineTest, SamplesAreNoCalls) {
  write(begin(1, 2000) + stack_sample(2005) + call(2010, 2020) + stack_sample(2030) + end(1, 2040));
  EXPECT_EQ(lines(), (Expected{"0 enter 2000 outer", "0 sample 2005 stack_sample", "0 enter 2010 MPI_Send",
                               "0 leave 2020 MPI_Send", "0 sample 2030 stack_sample", "0 leave 2040 outer"}));
  EXPECT_EQ(summary_.events, 3U);
  TimelineOptions options;
  options.filter.start_ns = second_ns + 2025;
  EXPECT_EQ(lines(options), (Expected{"0 enter 2000 outer", "0 sample 2030 stack_sample", "0 leave 2040 outer"}));
}

TEST_F(TimelineTest, CallsThatOverlapAreCut) {
  write(call(2000, 2020) + call(2019, 2030));
  EXPECT_EQ(lines(), (Expected{"0 enter 2000 MPI_Send", "0 leave 2019 MPI_Send", "0 enter 2019 MPI_Send",
                               "0 leave 2030 MPI_Send"}));
}

TEST_F(TimelineTest, WhatAProgramDoesWithinACallIsWithinIt) {
  write(begin(1, 2005) + end(1, 2008) + begin(2, 2010) + call(2000, 2020) + mark(2030) + end(2, 2040));
  EXPECT_EQ(lines(),
            (Expected{"0 enter 2000 MPI_Send", "0 enter 2005 outer", "0 leave 2008 outer", "0 enter 2010 inner",
                      "0 leave 2020 inner", "0 leave 2020 MPI_Send", "0 event 2030 mark"}));
  EXPECT_EQ(summary_.ends, 1U);
}

TEST_F(TimelineTest, RegionsThatDoNotNestAreEndedWithTheOuterOne) {
  write(begin(1, 2000) + begin(2, 2010) + end(1, 2020) + end(2, 2030) + begin(1, 2040) + mark(2050));
  EXPECT_EQ(lines(), (Expected{"0 enter 2000 outer", "0 enter 2010 inner", "0 leave 2020 inner", "0 leave 2020 outer",
                               "0 enter 2040 outer", "0 event 2050 mark", "0 leave 2050 outer"}));
  EXPECT_EQ(summary_.ends, 1U);
  EXPECT_EQ(summary_.open, 1U);
}

TEST_F(TimelineTest, OfAPartOfTheTimeWhatIsOpenThereToo) {
  write(begin(1, 2000) + call(2010, 2020) + begin(2, 2030) + call(2040, 2050) + end(2, 2060) + call(2065, 2069) +
        end(1, 2070));
  TimelineOptions options;
  options.filter.start_ns = second_ns + 2045;
  options.filter.end_ns = second_ns + 2062;
  EXPECT_EQ(lines(options), (Expected{"0 enter 2000 outer", "0 enter 2030 inner", "0 enter 2040 MPI_Send",
                                      "0 leave 2050 MPI_Send", "0 leave 2060 inner", "0 leave 2062 outer"}));
}

TEST_F(TimelineTest, InTheOrderOfTimeIfAsked) {
  write(call(2000, 2050) + call(2100, 2110));
  write(call(2010, 2020) + call(2030, 2040), 1);
  TimelineOptions options;
  options.is_ordered = true;
  EXPECT_EQ(lines(options), (Expected{"0 enter 2000 MPI_Send", "1 enter 2010 MPI_Send", "1 leave 2020 MPI_Send",
                                      "1 enter 2030 MPI_Send", "1 leave 2040 MPI_Send", "0 leave 2050 MPI_Send",
                                      "0 enter 2100 MPI_Send", "0 leave 2110 MPI_Send"}));
}

TEST_F(TimelineTest, EndsWhenItIsTold) {
  write(call(2000, 2010));
  TimelineOptions options;
  options.goes_on = [](std::uint64_t seen) { return seen != 1; };
  lines(options);
  EXPECT_TRUE(summary_.was_stopped);
}

}  // namespace
}  // namespace tare::exporters
