#include "format/current_call.h"

#include <gtest/gtest.h>

namespace tare::format {
namespace {

ThreadCall read_call(std::uint64_t enter, std::uint64_t leave, std::uint32_t function) {
  CurrentCall call{};
  call.enter = enter;
  call.leave = leave;
  call.function = function;
  call.communicator_number = 3;
  call.peer = 4;
  call.tag = 5;
  call.requests = 6;
  call.source = 7;
  call.source_tag = 8;
  call.site = 9;
  return call_of(call, OtherCalls{});
}

// Of a thread whose call of MPI, of another source, and construct are these; 0: none.
ThreadCall innermost(std::uint32_t mpi, std::uint32_t other, std::uint32_t construct) {
  CurrentCall call{};
  call.function = mpi;
  call.site = 1;
  OtherCalls others{};
  others.call.function = other;
  others.call.enter = 20;
  others.call.leave = 21;
  others.call.site = 2;
  others.construct.function = construct;
  others.construct.enter = 30;
  others.construct.site = 3;
  return call_of(call, others);
}

TEST(CurrentCall, IsReadAsItIs) {
  const ThreadCall call = read_call(200, 100, 42);
  EXPECT_EQ(call.enter, 200U);
  EXPECT_EQ(call.leave, 100U);
  EXPECT_EQ(call.function, 42U);
  EXPECT_EQ(call.communicator, 3U);
  EXPECT_EQ(call.peer, 4);
  EXPECT_EQ(call.tag, 5);
  EXPECT_EQ(call.requests, 6U);
  EXPECT_EQ(call.source, 7);
  EXPECT_EQ(call.source_tag, 8);
  EXPECT_EQ(call.site, 9U);
}

TEST(CurrentCall, AnUntimedPollBeganAfterTheLastCall) {
  EXPECT_EQ(read_call(100, 200, 42).enter, 200U);
  EXPECT_EQ(read_call(100, 200, 42 | returned).enter, 100U) << "it is no call under way";
}

TEST(CurrentCall, CallsUnderWayGoBeforeConstructsAndTheseBeforeCallsThatReturned) {
  constexpr std::uint32_t mpi = 1, other = 2, construct = 3;
  EXPECT_EQ(innermost(mpi, other, construct).site, 1U) << "MPI's own calls are not recorded";
  EXPECT_EQ(innermost(mpi | returned, other, construct).site, 2U);
  EXPECT_EQ(innermost(mpi | returned, other | returned, construct).site, 3U);
  EXPECT_EQ(innermost(mpi | returned, other | returned, 0).site, 1U);
  EXPECT_EQ(innermost(0, other | returned, 0).site, 2U);
  EXPECT_EQ(innermost(0, 0, construct).enter, 30U);
  EXPECT_EQ(innermost(0, 0, 0).function, 0U);
}

TEST(CurrentCall, ThreadsThatNeverCalledMpiAreToldApart) {
  EXPECT_EQ(innermost(1, 0, 0).flags, 0U);
  EXPECT_TRUE(is_in_mpi(innermost(1, 2, 3)));
  EXPECT_FALSE(is_in_mpi(innermost(1 | returned, 2, 3))) << "a call of another source";
  EXPECT_FALSE(is_in_mpi(innermost(1 | returned, 0, 0)));
  EXPECT_EQ(innermost(1 | returned, 2, 3).flags, of_other_source);
  EXPECT_EQ(innermost(0, 2, 3).flags, of_other_source | never_in_mpi);
  const ThreadCall call = innermost(0, 2, 3);
  EXPECT_EQ(call.peer, no_peer);
  EXPECT_EQ(call.tag, no_tag);
  EXPECT_EQ(call.enter, 20U);
  EXPECT_EQ(call.leave, 21U);
}

}  // namespace
}  // namespace tare::format
