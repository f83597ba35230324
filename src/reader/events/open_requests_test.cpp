#include "reader/events/open_requests.h"

#include <gtest/gtest.h>

namespace tare::reader {
namespace {

constexpr std::uint32_t number = 7;

TEST(OpenRequests, FindsWhatAnotherThreadStarted) {
  OpenRequests open;
  open.start(number, 10, {1, 2, 3});
  const StartedRequest found = open.complete(number, 20);
  EXPECT_EQ(found.request, 1U);
  EXPECT_EQ(found.communicator, 2U);
  EXPECT_EQ(found.thread, 3U);
  EXPECT_EQ(open.complete(number, 30).request, format::no_request) << "only once";
}

TEST(OpenRequests, ANumberMayBeUsedAgainBeforeTheCallThatFreedItReturns) {
  OpenRequests open;
  open.start(number, 10, {1, 0, 0});
  open.start(number, 25, {2, 0, 1});
  EXPECT_EQ(open.complete(number, 20).request, 1U);
  EXPECT_EQ(open.complete(number, 25).request, 2U);
}

TEST(OpenRequests, WhatWasGivenUpDoesNotStandInTheWay) {
  OpenRequests open;
  open.start(number, 10, {1, 0, 0});
  open.start(number, 20, {2, 0, 0});
  EXPECT_EQ(open.complete(number, 30).request, 2U);
}

TEST(OpenRequests, WhatIsCompleteAtOnceSharesItsNumber) {
  OpenRequests open;
  for (std::uint32_t i = 1; i <= 3; ++i) open.start(number, i, {i, 0, 0});
  std::uint32_t sum = 0;
  for (int i = 0; i < 3; ++i) sum += open.complete(number, 10).request;
  EXPECT_EQ(sum, 6U);
}

TEST(OpenRequests, TakesNoMoreMemoryThanRequestsAreAlive) {
  OpenRequests open;
  for (std::uint32_t i = 1; i <= 100'000; ++i) open.start(number, i, {i, 0, 0});
  for (std::uint32_t i = 0; i < 1024; ++i) EXPECT_EQ(open.complete(number, 200'000).request, 100'000 - i);
  EXPECT_EQ(open.complete(number, 200'000).request, format::no_request);
}

}  // namespace
}  // namespace tare::reader
