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
  return call_of(call);
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

}  // namespace
}  // namespace tare::format
