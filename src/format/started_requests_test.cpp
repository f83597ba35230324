#include "format/started_requests.h"

#include <gtest/gtest.h>

#include <memory>

namespace tare::format {
namespace {

class Started : public testing::Test {
 protected:
  Started() { requests->clear(); }
  std::unique_ptr<StartedRequests> requests = std::make_unique<StartedRequests>();
};

TEST_F(Started, ACompletionTakesTheLatestStartOfItsNumber) {
  requests->start(7);
  requests->start(9);
  requests->start(7);
  EXPECT_EQ(requests->complete(7), 3U);
  EXPECT_EQ(requests->complete(7), 1U);
  EXPECT_EQ(requests->complete(7), 0U);
  EXPECT_EQ(requests->complete(9), 2U);
  EXPECT_EQ(requests->complete(8), 0U) << "not started";
  requests->start(8);
  EXPECT_EQ(requests->complete(8), 4U);
}

TEST_F(Started, AChunkFillsHalfOfTheSlots) {
  for (std::uint32_t i = 1; i <= chunk_records; ++i) requests->start(64 * i);
  for (std::uint32_t i = chunk_records; i != 0; --i) EXPECT_EQ(requests->complete(64 * i), i);
}

TEST_F(Started, NothingIsLeftOfAnyChunkBefore) {
  for (std::uint32_t i = 1; i <= 100; ++i) requests->start(i);
  // Numbers of chunks come again after 65,535.
  for (unsigned chunk = 1; chunk <= 3 * 65'536; ++chunk) {
    requests->clear();
    ASSERT_EQ(requests->complete(1 + chunk % 100), 0U) << chunk;
    EXPECT_EQ(requests->starts, 0U);
  }
}

}  // namespace
}  // namespace tare::format
