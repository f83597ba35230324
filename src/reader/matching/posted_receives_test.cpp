#include "reader/matching/posted_receives.h"

#include <gtest/gtest.h>

#include <vector>

namespace tare::reader {
namespace {

class PostedReceivesTest : public ::testing::Test {
 protected:
  std::vector<std::uint32_t> resolved(std::uint32_t receive, std::int32_t source, std::int32_t tag) {
    std::vector<std::uint32_t> next;
    receives.resolve(receive, source, tag, [&](std::uint32_t of, const Pattern&) { next.push_back(of); });
    return next;
  }
  using Numbers = std::vector<std::uint32_t>;

  PostedReceives receives;
};

TEST_F(PostedReceivesTest, WithoutWildcardsNothingIsKept) {
  EXPECT_TRUE(receives.post(1, {1, 0, 7}));
  EXPECT_TRUE(receives.post(2, {1, 0, 7}));
}

TEST_F(PostedReceivesTest, WhatAWildcardMayTakeWaitsForIt) {
  EXPECT_FALSE(receives.post(1, {1, -1, 7}));
  EXPECT_FALSE(receives.post(2, {1, 0, 7}));
  EXPECT_TRUE(receives.post(3, {1, 0, 8}));  // another tag
  EXPECT_TRUE(receives.post(4, {2, 0, 7}));  // another communicator
  EXPECT_FALSE(receives.post(5, {1, 0, 7}));
  EXPECT_EQ(resolved(1, 3, 7), (Numbers{1, 2, 5}));
  EXPECT_TRUE(receives.post(6, {1, 0, 7}));
}

TEST_F(PostedReceivesTest, TheOrderIsThatOfPosting) {
  EXPECT_FALSE(receives.post(1, {1, -1, 7}));
  EXPECT_FALSE(receives.post(2, {1, -1, -1}));
  EXPECT_EQ(resolved(2, 0, 7), Numbers{});  // 1 may have taken an earlier one of this channel
  EXPECT_EQ(resolved(1, 0, 7), (Numbers{1, 2}));
}

TEST_F(PostedReceivesTest, AnotherTagCannotHaveBeenTaken) {
  EXPECT_FALSE(receives.post(1, {1, -1, 7}));
  EXPECT_FALSE(receives.post(2, {1, 0, -1}));
  EXPECT_EQ(resolved(2, 0, 9), Numbers{2});
}

TEST_F(PostedReceivesTest, CancelledOnesHoldNobodyUp) {
  EXPECT_FALSE(receives.post(1, {1, -1, 7}));
  EXPECT_FALSE(receives.post(2, {1, 0, 7}));
  Numbers next;
  receives.drop(1, [&](std::uint32_t of, const Pattern&) { next.push_back(of); });
  EXPECT_EQ(next, Numbers{2});
}

TEST_F(PostedReceivesTest, AtTheEndThoseThatAreKnownGoOn) {
  EXPECT_FALSE(receives.post(1, {1, -1, 7}));
  EXPECT_FALSE(receives.post(2, {1, 0, 7}));
  Numbers next;
  receives.finish([&](std::uint32_t of, const Pattern&) { next.push_back(of); });
  EXPECT_EQ(next, Numbers{2});
}

}  // namespace
}  // namespace tare::reader
