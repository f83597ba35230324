#include "reader/run/current_calls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "reader/run/collect.h"
#include "reader/store/calls_chunk.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace tare::format;
using namespace tare::reader::synthetic;

// Rank 1 of 2: one thread is in an MPI_Wait for a receive, another one has returned from MPI_Send.
class CurrentCallsTest : public testing::Test {
 protected:
  void fill(Segment& segment) {
    CommunicatorDefinition world{};
    world.communicator = 1;
    world.size = 2;
    world.key = 77;
    world.group = 1;
    segment.define(group_definition(1, {{0, 1, 2}}) + communicator_definition(world, "MPI_COMM_WORLD") +
                   module_definition(1, "/bin/app") + site_definition(2, 1, 0x4000) +
                   python_site_definition(1, "a.py", "solve", 12));
    segment.add_location();
    format::CurrentCall& waiting = segment.location(0).current;
    waiting.enter = 5000;
    waiting.site = 2;
    waiting.peer = no_peer;
    waiting.tag = no_tag;
    waiting.requests = 1;
    waiting.function = function_number("MPI_Wait");
    segment.add_location();
    format::CurrentCall& left = segment.location(1).current;
    left.enter = 3000;
    left.leave = 4000;
    left.peer = 0;
    left.tag = 9;
    left.communicator_number = 1;
    left.requests = 5;  // left over from an earlier MPI_Waitall
    left.function = function_number("MPI_Send") | returned;
    segment.add_location();  // has made no call
    RequestEntry receive{};
    receive.handle = 0x10;
    receive.started = 2000;
    receive.bytes = no_bytes;
    receive.communicator = 1;
    receive.peer = 0;
    receive.tag = 3;
    receive.site = 1;
    receive.waiter = 1;
    receive.function = function_number("MPI_Irecv");
    receive.kind = receive_request;
    segment.add_request(receive);
    RequestEntry idle = receive;
    idle.kind = persistent_request;
    idle.active = 0;
    segment.add_request(idle);
  }

  static void expect_all(reader::Run& run) {
    ASSERT_TRUE(run.warnings().empty()) << run.warnings()[0];
    const auto calls = current_calls(run);
    ASSERT_EQ(calls.size(), 2U);
    const auto name = [&](std::uint16_t function) { return run.functions().name(function); };
    EXPECT_TRUE(calls[0].inside);
    EXPECT_EQ(name(calls[0].function), "MPI_Wait");
    EXPECT_EQ(calls[0].requests, 1U);
    ASSERT_GE(calls[0].site, 0);
    EXPECT_EQ(run.sites()[static_cast<std::size_t>(calls[0].site)].at.object, "/bin/app");
    EXPECT_EQ(run.sites()[static_cast<std::size_t>(calls[0].site)].at.address, 0x4000U);
    ASSERT_EQ(calls[0].pending.size(), 1U);
    const PendingRequest& receive = calls[0].pending[0];
    EXPECT_EQ(name(receive.function), "MPI_Irecv");
    EXPECT_EQ(run.sites()[static_cast<std::size_t>(receive.site)].symbol.file, "a.py");
    EXPECT_EQ(receive.peer_world, 0);
    EXPECT_EQ(receive.tag, 3);
    EXPECT_TRUE(receive.receives);
    EXPECT_TRUE(receive.waited_for);
    EXPECT_FALSE(calls[1].inside);
    EXPECT_EQ(name(calls[1].function), "MPI_Send");
    EXPECT_EQ(calls[1].requests, 0U);
    EXPECT_EQ(calls[1].peer_world, 0);
    EXPECT_EQ(calls[1].leave_ns - calls[1].enter_ns, 1000);
    EXPECT_FALSE(calls[1].pending.at(0).waited_for);
  }

  RunPaths paths() const { return {run_dir_.path(), segment_dir_.path(), run_id}; }
  static ProcessRecord unfinished(unsigned pid) {
    ProcessRecord process = process_record(1, ProcessState::running, pid);
    process.end = process.finalize_enter = process.finalize_leave = 0;
    return process;
  }

  TempDir run_dir_;
  TempDir segment_dir_;
};

TEST_F(CurrentCallsTest, OfAProcessThatRuns) {
  Segment segment(segment_dir_, unfinished(static_cast<unsigned>(::getpid())));
  fill(segment);
  auto run = Run::open(paths());
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(run->processes()[0].state, State::running);
  expect_all(*run);
}

// Which call the first thread is in is not known then, unless it is measured all the same.
TEST_F(CurrentCallsTest, OfAThreadWhoseCallsAreOnlyCounted) {
  ProcessRecord process = unfinished(static_cast<unsigned>(::getpid()));
  process.counted_since = 4500;
  Segment segment(segment_dir_, process);
  fill(segment);
  const auto counted_since_ns = [&] {
    auto run = Run::open(paths());
    const CurrentCall first = current_calls(*run).at(0);
    EXPECT_EQ(current_calls(*run).at(1).counted_since_ns, 0) << "of other threads all calls are seen";
    return first.counted_since_ns == 0 ? 0 : first.counted_since_ns - first.enter_ns;
  };
  EXPECT_EQ(counted_since_ns(), 0);
  format::CurrentCall& left = segment.location(0).current;
  left.leave = 6000;
  left.function = left.function | returned;
  EXPECT_EQ(counted_since_ns(), -500);
}

TEST_F(CurrentCallsTest, OfAKilledOneAlsoWhenItHasBeenCollected) {
  Segment segment(segment_dir_, unfinished(dead_pid()));
  fill(segment);
  auto before = Run::open(paths());
  ASSERT_TRUE(before) << before.error();
  EXPECT_EQ(before->processes()[0].state, State::killed);
  expect_all(*before);
  ASSERT_TRUE(collect(paths()));
  auto after = Run::open(paths());
  ASSERT_TRUE(after) << after.error();
  EXPECT_FALSE(after->processes()[0].segment);
  expect_all(*after);
}

TEST_F(CurrentCallsTest, OfOneThatEndedWellNothingIsKept) {
  Segment segment(segment_dir_, process_record(1, ProcessState::exited));
  fill(segment);
  ASSERT_TRUE(collect(paths()));
  auto run = Run::open(paths());
  ASSERT_TRUE(run) << run.error();
  EXPECT_TRUE(current_calls(*run).empty());
}

TEST_F(CurrentCallsTest, OfOneThatWasSavedWhileItRanAndEndedWellNothingIsKept) {
  const auto process = [](ProcessState state) { return process_record(1, state, static_cast<unsigned>(::getpid())); };
  {
    Segment segment(segment_dir_, process(ProcessState::running));
    fill(segment);
    ASSERT_TRUE(collect(paths(), {.saves_living = true}));
    auto saved = Run::open({run_dir_.path(), "", ""});
    ASSERT_TRUE(saved) << saved.error();
    EXPECT_FALSE(current_calls(*saved).empty());
    segment.header().process = process(ProcessState::exited);
  }
  ASSERT_TRUE(collect(paths()));
  auto run = Run::open(paths());
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(run->processes().at(0).state, State::finished);
  EXPECT_TRUE(current_calls(*run).empty());
  EXPECT_TRUE(run->processes()[0].requests.empty());
}

TEST(CallsChunk, IsRefusedIfItsSizeIsWrong) {
  std::vector<ThreadCall> calls(2);
  std::vector<RequestEntry> requests(3);
  calls[1].tag = 5;
  requests[2].peer = 4;
  const std::string payload = calls_payload(calls, requests);
  std::vector<ThreadCall> calls_read;
  std::vector<RequestEntry> requests_read;
  ASSERT_TRUE(parse_calls(payload, calls_read, requests_read));
  EXPECT_EQ(calls_read.at(1).tag, 5);
  EXPECT_EQ(requests_read.at(2).peer, 4);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{7}, payload.size() - 1})
    EXPECT_FALSE(parse_calls(payload.substr(0, bytes), calls_read, requests_read)) << bytes;
  EXPECT_FALSE(parse_calls(payload + "x", calls_read, requests_read));
}

}  // namespace
}  // namespace tare::reader
