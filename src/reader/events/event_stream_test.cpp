#include "reader/events/event_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "format/event_codec.h"
#include "reader/testing/event_lines.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::CallRecord;
using format::CompletionRecord;
using format::ProcessRecord;
using format::ProcessState;

constexpr std::int64_t second_ns = 1'700'000'000'000'000'000;  // tick 0 of process_record()

class EventStreamTest : public ::testing::Test {
 protected:
  void open() {
    auto run = reader::Run::open({dir_.path(), dir_.path(), run_id});
    ASSERT_TRUE(run) << run.error();
    run_.emplace(std::move(*run));
  }
  // Reads the events as rows and as tables.
  std::vector<EventRow> events(const EventFilter& filter = {}, std::size_t batch = 100) {
    open();
    auto stream = EventStream::open(*run_, filter);
    EXPECT_TRUE(stream) << stream.error();
    std::vector<EventRow> all;
    for (auto rows = stream->next(batch); !rows.empty(); rows = stream->next(batch))
      all.insert(all.end(), rows.begin(), rows.end());
    warnings_ = stream->warnings();
    if (filter.limit == 0) {
      EXPECT_EQ(testing::lines_of_tables(*run_, filter), testing::lines_of(*run_, all));
    }
    return all;
  }
  const std::string& name(const EventRow& row) { return EventStream::name(*run_, row); }
  static std::string sends(std::uint64_t first_tick, unsigned count, std::uint64_t step = 10) {
    std::string records;
    for (unsigned i = 0; i < count; ++i)
      records += bytes_of(call_record("MPI_Send", 1, first_tick + i * step, first_tick + i * step + 5));
    return records;
  }
  static std::string start(std::uint64_t tick, std::uint32_t handle, std::uint32_t communicator = 0) {
    CallRecord call = call_record("MPI_Irecv", 1, tick, tick + 5);
    call.request = handle;
    call.communicator = communicator;
    return bytes_of(call);
  }
  static std::string wait(std::uint64_t tick, std::uint32_t handle) {
    return bytes_of(call_record("MPI_Wait", 1, tick, tick + 5)) +
           bytes_of(CompletionRecord{{format::completion, 3}, handle, 8, 0, 0});
  }

  TempDir dir_;
  std::optional<reader::Run> run_;
  std::vector<std::string> warnings_;
};

TEST_F(EventStreamTest, FieldsOfACall) {
  const ProcessRecord process = process_record(1, ProcessState::exited);
  CallRecord send = call_record("MPI_Isend", 1, 3000, 3040);
  send.peer = 0;
  send.tag = -5;
  send.bytes = 1024;
  send.request = 77;
  CallRecord bcast = call_record("MPI_Ibcast", 9, 4000, 4100);
  bcast.peer = 1;
  const std::string log = site_definition(1, 0, 64) + communicator_definition(1, 2, "MPI_COMM_WORLD");
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + definitions_chunk(process, log) +
                           events_chunk(process, 3, 0, bytes_of(send) + bytes_of(bcast)));
  const auto rows = events();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(name(rows[0]), "MPI_Isend");
  EXPECT_EQ(rows[0].start_ns, second_ns + 3000);
  EXPECT_EQ(rows[0].duration_ns, 40);
  EXPECT_EQ(rows[0].rank, 1);
  EXPECT_EQ(rows[0].thread, 3U);
  EXPECT_EQ(rows[0].site, 0);
  EXPECT_EQ(rows[0].communicator, 0);
  EXPECT_EQ(rows[0].peer, 0);
  EXPECT_EQ(rows[0].tag, -5);
  EXPECT_EQ(rows[0].bytes, 1024U);
  EXPECT_EQ(rows[0].request, 1U) << "numbered in the order of their start";
  EXPECT_FALSE(rows[0].rooted);
  EXPECT_TRUE(rows[1].rooted);
  EXPECT_EQ(rows[1].site, -1) << "its definition is missing";
}

TEST_F(EventStreamTest, RequestsJoinStartAndCompletion) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  const std::string first = start(3000, 50) + start(3010, 60) + wait(3020, 60) + start(3030, 60);
  const std::string second = wait(3040, 60) + wait(3050, 50);
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + events_chunk(process, 0, 0, first) +
                           events_chunk(process, 0, 1, second));
  std::vector<std::uint32_t> requests;
  for (const auto& row : events()) requests.push_back(row.request);
  EXPECT_EQ(requests, (std::vector<std::uint32_t>{1, 2, 2, 3, 3, 1}));
}

// MPI gives the handle of a completed request to the next one, here in the chunk where the first completes.
TEST_F(EventStreamTest, ARequestMayHaveTheHandleOfOneOfAnEarlierChunk) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  const auto communicator = [](std::uint32_t number, std::int32_t first_member) {
    format::CommunicatorDefinition made{};
    made.communicator = made.group = number;
    made.key = number;
    made.size = 2;
    return group_definition(number, {{first_member, 1, 2}}) + communicator_definition(made);
  };
  const std::string log = communicator(1, 4) + communicator(2, 8);
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + definitions_chunk(process, log) +
                           events_chunk(process, 0, 0, start(3000, 50, 1)) +
                           events_chunk(process, 0, 1, wait(3010, 50) + start(3020, 50, 2)) +
                           events_chunk(process, 0, 2, wait(3030, 50)));
  const auto rows = events();
  ASSERT_EQ(rows.size(), 4U);
  const std::vector<std::uint32_t> expected{1, 1, 2, 2};
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].request, expected[i]);
  EXPECT_EQ(rows[1].peer_world, 4) << "a rank in the communicator of the request that it completes";
  EXPECT_EQ(rows[3].peer_world, 8);
}

TEST_F(EventStreamTest, WhatACallStartsTogetherIsMatchedWithWhatACallCompletes) {
  const auto startall = [](std::uint64_t tick) { return bytes_of(call_record("MPI_Startall", 1, tick, tick + 5)); };
  const auto started = [](std::uint32_t handle, std::int32_t peer, std::uint64_t bytes) {
    return bytes_of(format::StartRecord{{format::start, 4}, handle, bytes, peer, 9, 1, 0});
  };
  const auto completed = [](std::uint32_t handle, std::uint64_t bytes, std::int32_t source) {
    return bytes_of(CompletionRecord{{format::completion, 3}, handle, bytes, source, 9});
  };
  const auto waitall = [](std::uint64_t tick) { return bytes_of(call_record("MPI_Waitall", 1, tick, tick + 5)); };
  const ProcessRecord process = process_record(0, ProcessState::exited);
  format::CommunicatorDefinition made{};
  made.communicator = made.group = 1;
  made.key = 1;
  made.size = 4;
  const std::string log = group_definition(1, {{4, 1, 4}}) + communicator_definition(made);
  const std::string first = startall(3000) + started(50, 1, 80) + started(60, format::any_source, format::no_bytes);
  // The third start and the first completion are in the chunk after that of their call.
  const std::string second = started(70, 2, 40) + waitall(3010) + completed(70, format::no_bytes, format::no_peer);
  const std::string third = completed(60, 24, 3) + startall(3020) + started(60, format::any_source, format::no_bytes) +
                            waitall(3030) + completed(60, 32, 2);
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + definitions_chunk(process, log) +
                           events_chunk(process, 0, 0, first) + events_chunk(process, 0, 1, second) +
                           events_chunk(process, 0, 2, third) + events_chunk(process, 0, 3, wait(3040, 50)));
  const auto rows = events();
  ASSERT_EQ(rows.size(), 5U);
  ASSERT_EQ(rows[0].requests.size(), 3U);
  EXPECT_EQ(rows[0].request, format::no_request);
  EXPECT_EQ(rows[0].requests[0].request, 1U);
  EXPECT_EQ(rows[0].requests[0].peer, 1);
  EXPECT_EQ(rows[0].requests[0].peer_world, 5);
  EXPECT_EQ(rows[0].requests[0].tag, 9);
  EXPECT_EQ(rows[0].requests[0].bytes, 80U);
  EXPECT_EQ(rows[0].requests[0].communicator, 0);
  EXPECT_EQ(rows[0].requests[1].peer, format::any_source);
  EXPECT_EQ(rows[0].requests[2].request, 3U);
  ASSERT_EQ(rows[1].requests.size(), 2U);
  EXPECT_EQ(rows[1].requests[0].request, 3U);
  EXPECT_EQ(rows[1].requests[1].request, 2U);
  EXPECT_EQ(rows[1].requests[1].peer_world, 7);
  EXPECT_EQ(rows[1].requests[1].bytes, 24U);
  EXPECT_EQ(rows[1].bytes, 24U);
  EXPECT_TRUE(rows[2].requests.empty()) << "one request is said by the row itself";
  EXPECT_EQ(rows[2].request, 4U);
  EXPECT_EQ(rows[2].tag, 9);
  EXPECT_EQ(rows[3].request, 4U);
  EXPECT_EQ(rows[3].peer_world, 6);
  EXPECT_EQ(rows[4].request, 1U) << "started three chunks before";
}

TEST_F(EventStreamTest, ARequestMayBeCompletedByAnotherThread) {
  ProcessRecord process = process_record(0, ProcessState::exited);
  process.thread_level = 3;
  const auto of_other = [](std::uint32_t handle) {
    return bytes_of(CompletionRecord{{format::foreign_completion, 3}, handle, 8, 0, 0});
  };
  const auto call = [](const char* name, std::uint64_t tick) { return bytes_of(call_record(name, 1, tick, tick + 5)); };
  // Thread 1 completes a request of thread 0. It then starts a request with the same number itself; later thread 0
  // starts one with this number, and completes it in a later chunk. An MPI_Waitall of thread 1 completes two requests,
  // one of which is its own.
  const std::string first = start(3000, 50) + start(3040, 50);
  const std::string second = start(3060, 60) + wait(3100, 50);
  const std::string others = call("MPI_Wait", 3010) + of_other(50) + start(3020, 50) + wait(3030, 50) +
                             start(3070, 70) + call("MPI_Waitall", 3080) + of_other(60);
  const std::string others_next = bytes_of(CompletionRecord{{format::completion, 3}, 70, 8, 0, 0}) + sends(3200, 1);
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + events_chunk(process, 0, 0, first) +
                           events_chunk(process, 0, 1, second) + events_chunk(process, 1, 0, others) +
                           events_chunk(process, 1, 1, others_next));
  const auto rows = events();
  ASSERT_EQ(rows.size(), 10U);
  const auto is = [&](std::size_t row, std::uint32_t request, std::uint32_t starter) {
    EXPECT_EQ(rows[row].request, request) << row;
    EXPECT_EQ(rows[row].starter, starter) << row;
  };
  constexpr std::uint32_t itself = UINT32_MAX;
  is(0, 1, itself);
  is(1, 1, 0);
  is(2, 1, itself);
  is(3, 1, itself);
  is(4, 2, itself);
  ASSERT_EQ(rows[7].requests.size(), 2U);
  EXPECT_EQ(rows[7].requests[0].request, 3U);
  EXPECT_EQ(rows[7].requests[0].starter, 0U);
  EXPECT_EQ(rows[7].requests[1].request, 2U);
  EXPECT_EQ(rows[7].requests[1].starter, itself);
  is(8, 2, itself);
}

TEST_F(EventStreamTest, LocationsAreMergedInTheOrderOfTime) {
  const ProcessRecord a = process_record(0, ProcessState::exited);
  const ProcessRecord b = process_record(1, ProcessState::exited);
  dir_.write("n.tare", functions_chunk() + process_chunk(a) + process_chunk(b) + events_chunk(a, 0, 1, sends(5000, 9)) +
                           events_chunk(b, 0, 0, sends(3003, 9, 500)) + events_chunk(a, 0, 0, sends(3000, 9)) +
                           events_chunk(a, 1, 0, sends(3001, 50)));
  const auto rows = events({}, 7);
  ASSERT_EQ(rows.size(), 9U + 9 + 9 + 50);
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_LE(rows[i - 1].start_ns, rows[i].start_ns) << i;
}

TEST_F(EventStreamTest, CopiesOfAChunkCountOnce) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  const std::string chunk = events_chunk(process, 0, 0, sends(3000, 9));
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + chunk + chunk);
  EXPECT_EQ(events().size(), 9U);
  EXPECT_EQ(run_->totals(0).records, 9U);
}

// A process that continues after MPI_Abort writes copies of a chunk.
TEST_F(EventStreamTest, OfCopiesTheOneWithTheMostRecordsCounts) {
  const ProcessRecord process = process_record(0, ProcessState::aborted);
  const auto chunk = [&](unsigned records) { return events_chunk(process, 0, 0, sends(3000, records)); };
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + chunk(9) + chunk(12) + chunk(7));
  EXPECT_EQ(events().size(), 12U);
  EXPECT_EQ(run_->totals(0).records, 12U);
}

// A keeper saves the whole buffer of a living process, some times; what was overwritten in between is lost.
TEST_F(EventStreamTest, OfAProcessThatOverwritesTheNewestBufferCounts) {
  ProcessRecord ended = process_record(0, ProcessState::exited);
  const auto buffer = [&](std::uint32_t sequence, unsigned records) {
    return profile_chunk(ended, 0, {profile_row("MPI_Send", 1, 9, 90, 8)}) +
           events_chunk(ended, 0, sequence, sends(3000 + 1000 * sequence, records)) +
           events_chunk(ended, 0, sequence + 1, sends(3500 + 1000 * sequence, records));
  };
  const std::string profile = profile_chunk(ended, 0, {profile_row("MPI_Send", 1, 9, 90, 8)});
  const auto expect_events = [&](const std::string& chunks, std::size_t events) {
    dir_.write("n.tare", functions_chunk() + chunks);
    EXPECT_EQ(this->events().size(), events);
    EXPECT_EQ(run_->totals(0).records, events);
  };
  ended.flags |= format::traced;
  expect_events(process_chunk(ended) + buffer(0, 9) + buffer(4, 7), 32);
  ended.flags |= format::overwrites;
  ProcessRecord living = ended;
  living.state = ProcessState::running;
  living.flags |= format::saved_living;
  const std::string saved = process_chunk(living);
  const std::string twice = saved + buffer(0, 9) + saved + buffer(0, 7);
  expect_events(saved + buffer(0, 9), 18);
  expect_events(twice, 14);
  expect_events(twice + saved + profile, 14);  // its keeper was killed there
  expect_events(twice + process_chunk(ended) + profile, 14);
  expect_events(twice + process_chunk(ended) + buffer(4, 5), 10);  // as its keeper writes it
  expect_events(twice + buffer(4, 5) + process_chunk(ended), 10);  // as itself does
  expect_events(twice + profile + process_chunk(ended), 0);
}

TEST_F(EventStreamTest, ABufferMayHoldMoreOfAChunkThanTheFile) {
  const ProcessRecord process = process_record(0, ProcessState::aborted);
  Segment segment(dir_, process);
  segment.add_location();
  segment.add_record(0, sends(3000, 20));
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + events_chunk(process, 0, 0, sends(3000, 9)));
  EXPECT_EQ(events().size(), 20U);
  EXPECT_EQ(run_->totals(0).records, 20U);
}

TEST_F(EventStreamTest, Filters) {
  const ProcessRecord a = process_record(0, ProcessState::exited);
  const ProcessRecord b = process_record(1, ProcessState::exited);
  dir_.write("n.tare", functions_chunk() + process_chunk(a) + process_chunk(b) +
                           events_chunk(a, 0, 0, sends(3000, 100)) +
                           events_chunk(b, 0, 0, bytes_of(call_record("MPI_Recv", 1, 3000, 3500))));
  EXPECT_EQ(events({.ranks = {{1}}, .functions = {}, .start_ns = {}, .end_ns = {}}).size(), 1U);
  EXPECT_EQ(events({.ranks = {{5}}, .functions = {}, .start_ns = {}, .end_ns = {}}).size(), 0U);
  EXPECT_EQ(events({.ranks = {}, .functions = {{"MPI_Send"}}, .start_ns = {}, .end_ns = {}}).size(), 100U);
  EXPECT_EQ(events({.ranks = {}, .functions = {{"no_such"}}, .start_ns = {}, .end_ns = {}}).size(), 0U);
  // Sends begin at 3000, 3010, … and take 5 each. The receive lasts all the time.
  EXPECT_EQ(events({.ranks = {}, .functions = {}, .start_ns = second_ns + 3106, .end_ns = second_ns + 3130}).size(),
            3U);
  EXPECT_EQ(events({.ranks = {}, .functions = {}, .start_ns = {}, .end_ns = {}, .limit = 12}, 5).size(), 12U);
}

TEST_F(EventStreamTest, CompletionsBelongToTheCallBeforeThem) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  const auto completion = [](std::uint32_t request, std::uint64_t bytes, std::int32_t source) {
    return bytes_of(CompletionRecord{{format::completion, 3}, request, bytes, source, 4});
  };
  const std::string wait = bytes_of(call_record("MPI_Wait", 1, 3000, 3010)) + completion(5, 64, 1);
  const std::string waitall = bytes_of(call_record("MPI_Waitall", 1, 3020, 3030)) + completion(6, 10, 1);
  // The other completions of the call are in the next chunk.
  const std::string rest = completion(7, format::no_bytes, format::no_peer) + completion(8, 30, 2) + sends(3050, 1);
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + events_chunk(process, 0, 0, wait + waitall) +
                           events_chunk(process, 0, 1, rest));
  const auto rows = events();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].bytes, 64U);
  EXPECT_EQ(rows[0].peer, 1);
  EXPECT_EQ(rows[0].tag, 4);
  EXPECT_EQ(rows[0].request, format::no_request) << "its start is not in the trace";
  EXPECT_EQ(name(rows[1]), "MPI_Waitall");
  EXPECT_EQ(rows[1].bytes, 40U);
  ASSERT_EQ(rows[1].requests.size(), 3U);
  EXPECT_EQ(rows[1].requests[0].peer, 1);
  EXPECT_EQ(rows[1].requests[2].peer, 2);
  EXPECT_EQ(name(rows[2]), "MPI_Send");
  EXPECT_EQ(rows[2].bytes, format::no_bytes);
}

TEST_F(EventStreamTest, FlushesAndLossesAreRows) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  dir_.write("n.tare", functions_chunk() + process_chunk(process) +
                           events_chunk(process, 0, 0,
                                        bytes_of(format::FlushRecord{{format::flush, 4}, 12, 3000, 3100, 500}) +
                                            bytes_of(format::LossRecord{{format::loss, 4}, 0, 3200, 3300, 8})));
  const auto rows = events();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(name(rows[0]), "tare:flush");
  EXPECT_EQ(rows[0].bytes, 500U);
  EXPECT_EQ(rows[0].records, 12U);
  EXPECT_EQ(name(rows[1]), "tare:loss");
  EXPECT_EQ(rows[1].records, 8U);
  EXPECT_EQ(events({.ranks = {}, .functions = {{"tare:loss"}}, .start_ns = {}, .end_ns = {}}).size(), 1U);
}

TEST_F(EventStreamTest, EventsInABufferAppearAsIfDrained) {
  const ProcessRecord process = process_record(0, ProcessState::running);
  Segment segment(dir_, process, 1 << 21);
  segment.add_location();
  segment.set_drained(0, {0, 1});
  segment.add_record(0, sends(5000, format::chunk_records + 10));
  // Chunk 1 is on disk already: the process was killed before it could empty the buffer.
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + events_chunk(process, 0, 0, sends(3000, 7)) +
                           events_chunk(process, 0, 1, sends(5000, format::chunk_records)));
  const auto rows = events();
  EXPECT_EQ(rows.size(), 7U + format::chunk_records + 10);
  EXPECT_EQ(run_->totals(0).records, rows.size());
}

TEST_F(EventStreamTest, ALiveSegmentMayDrainWhileTheRunIsOpen) {
  ProcessRecord process = process_record(0, ProcessState::running);
  process.pid = static_cast<std::uint32_t>(::getpid());
  Segment segment(dir_, process);
  segment.add_location();
  segment.add_record(0, sends(3000, 20));
  EXPECT_EQ(events().size(), 20U);
  open();
  // After the run was opened, the process drains its buffer and records more.
  dir_.write("n.tare", functions_chunk() + events_chunk(process, 0, 0, sends(3000, 20)));
  segment.set_drained(0, {1, 1});
  segment.next_sub_buffer(0, 0);
  segment.add_record(0, sends(4000, 3));
  auto stream = EventStream::open(*run_, {});
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->next(100).size(), 23U);
}

TEST_F(EventStreamTest, ADamagedChunkIsNamedAndSkipped) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  std::string damaged = events_chunk(process, 0, 0, sends(3000, 9));
  damaged.back() ^= 1;
  dir_.write("n.tare",
             functions_chunk() + process_chunk(process) + damaged + events_chunk(process, 0, 1, sends(4000, 4)));
  EXPECT_EQ(events().size(), 4U);
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("9 events were skipped"), std::string::npos) << warnings_[0];
}

TEST_F(EventStreamTest, LocationsWithoutACallThatIsWantedAreNotRead) {
  const ProcessRecord sender = process_record(0, ProcessState::exited);
  const ProcessRecord killed = process_record(1, ProcessState::running);
  std::string files = functions_chunk();
  for (const ProcessRecord& process : {sender, killed}) {
    std::string damaged = events_chunk(process, 0, 0, sends(3000, 9));
    damaged.back() ^= 1;
    files += process_chunk(process) + damaged + events_chunk(process, 1, 0, wait(4000, 7)) +
             profile_chunk(process, 0, {profile_row("MPI_Send", 1, 9, 45, 0)}) +
             profile_chunk(process, 1, {profile_row("MPI_Wait", 1, 1, 5, 0)});
  }
  dir_.write("n.tare", files);
  EventFilter filter;
  filter.functions = {"MPI_Wait"};
  EXPECT_EQ(events(filter).size(), 2U);
  EXPECT_EQ(warnings_.size(), 1U) << "of the one that was killed: its profile may be older than its events";
  filter.functions = {"MPI_Send"};
  EXPECT_TRUE(events(filter).empty());
  EXPECT_EQ(warnings_.size(), 2U);
  filter.functions = {"tare:flush"};
  EXPECT_TRUE(events(filter).empty());
  EXPECT_EQ(warnings_.size(), 2U) << "profiles do not tell of flushes";
}

TEST_F(EventStreamTest, EventsOfTheApiStandInTimeWithTheCalls) {
  using format::EventClass;
  using format::ParameterType;
  const ProcessRecord a = process_record(0, ProcessState::exited);
  const ProcessRecord b = process_record(1, ProcessState::exited);
  const auto types = [](std::uint32_t first) {
    return event_type_definition(first, EventClass::region, "solve", {ParameterType::u8}) +
           event_type_definition(first + 1, EventClass::raw, "note");
  };
  const std::string records = event_record(1, 3000, {1}) + bytes_of(call_record("MPI_Send", 1, 3010, 3050)) +
                              raw_event_record(2, 3060, "nine byte") + raw_event_record(2, 3065, "") +
                              event_record(1, 3070, {0}) + event_record(9, 3080, {5, UINT64_MAX});
  dir_.write("n.tare", functions_chunk() + process_chunk(a) + process_chunk(b) + definitions_chunk(a, types(1)) +
                           definitions_chunk(b, types(5)) + events_chunk(a, 0, 0, records) +
                           events_chunk(b, 0, 0, event_record(5, 3005, {1})));
  const auto rows = events();
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(run_->event_types().size(), 2U) << "equal types of the two processes are one";
  std::string order;
  for (const auto& row : rows) order += name(row) + ' ';
  EXPECT_EQ(order, "solve solve MPI_Send note note solve other ");
  EXPECT_EQ(rows[0].kind, EventKind::event);
  EXPECT_EQ(rows[0].start_ns, second_ns + 3000);
  EXPECT_EQ(rows[0].parameters, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(rows[1].rank, 1);
  EXPECT_EQ(rows[0].event_type, rows[1].event_type);
  EXPECT_EQ(rows[3].kind, EventKind::raw_event);
  EXPECT_EQ(rows[3].text, "nine byte");
  EXPECT_EQ(rows[4].text, "");
  EXPECT_EQ(rows[5].parameters, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(rows[6].event_type, -1) << "its definition is missing";
  EXPECT_EQ(rows[6].parameters, (std::vector<std::uint64_t>{5, UINT64_MAX}));
  EXPECT_EQ(run_->totals(0).records, 6U);
  EXPECT_EQ(events({.ranks = {}, .functions = {{"solve"}}, .start_ns = {}, .end_ns = {}}).size(), 3U);
  EXPECT_EQ(events({.ranks = {}, .functions = {{"MPI_Send"}}, .start_ns = {}, .end_ns = {}}).size(), 1U);
  EXPECT_EQ(events({.ranks = {}, .functions = {{"other"}}, .start_ns = {}, .end_ns = {}}).size(), 1U);
  EXPECT_EQ(events({.ranks = {}, .functions = {}, .start_ns = second_ns + 3066, .end_ns = {}}).size(), 2U);
}

TEST_F(EventStreamTest, TypesOfOneNameAreToldApart) {
  using format::EventClass;
  using format::ParameterType;
  const ProcessRecord a = process_record(0, ProcessState::exited);
  const ProcessRecord b = process_record(1, ProcessState::exited);
  dir_.write(
      "n.tare",
      functions_chunk() + process_chunk(a) + process_chunk(b) +
          definitions_chunk(a, event_type_definition(1, EventClass::counter, "n", {ParameterType::f64}, "bytes") +
                                   event_type_definition(2, EventClass::marker, "n")) +
          definitions_chunk(b, event_type_definition(1, EventClass::counter, "n", {ParameterType::f64}, "s") +
                                   event_type_definition(2, EventClass::regular, "n", {ParameterType::i8}) +
                                   event_type_definition(3, EventClass::regular, "n", {ParameterType::u8})));
  open();
  EXPECT_EQ(run_->event_types().size(), 5U);
  EXPECT_TRUE(run_->warnings().empty());
}

TEST_F(EventStreamTest, ADefinitionOfAnUnknownClassIsDamage) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  const auto beyond = static_cast<format::EventClass>(7);
  dir_.write("n.tare", functions_chunk() + process_chunk(process) +
                           definitions_chunk(process, event_type_definition(1, beyond, "x")) +
                           events_chunk(process, 0, 0, event_record(1, 3000)));
  EXPECT_EQ(events().size(), 1U);
  EXPECT_EQ(run_->warnings().size(), 1U);
}

TEST_F(EventStreamTest, TheLastCallOfAThreadIsNotThatOfTheNextInItsBlock) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + events_chunk(process, 3, 0, sends(3000, 2), 3) +
                           events_chunk(process, 3, 1, sends(4000, 2), 5));
  std::vector<std::uint32_t> threads;
  for (const auto& row : events()) threads.push_back(row.thread);
  EXPECT_EQ(threads, (std::vector<std::uint32_t>{3, 3, 5, 5}));
}

TEST_F(EventStreamTest, ACallFollowedByManyEventsIsNotHeldBack) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  // The call before the events is complete; the last call has its completion in the next chunk.
  const std::string wait = bytes_of(call_record("MPI_Wait", 1, 5000, 5010));
  const std::string completion = bytes_of(CompletionRecord{{format::completion, 3}, 5, 64, 1, 4});
  dir_.write("n.tare", functions_chunk() + process_chunk(process) +
                           events_chunk(process, 0, 0, sends(3000, 1) + event_record(1, 3010)) +
                           events_chunk(process, 0, 1, event_record(1, 4000) + wait) +
                           events_chunk(process, 0, 2, completion + event_record(1, 6000)));
  const auto rows = events();
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].bytes, format::no_bytes);
  EXPECT_EQ(name(rows[3]), "MPI_Wait");
  EXPECT_EQ(rows[3].bytes, 64U);
}

}  // namespace
}  // namespace tare::reader
