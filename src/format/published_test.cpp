#include "format/published.h"

#include <gtest/gtest.h>

#include <thread>

namespace tare::format {
namespace {

struct Three {
  std::uint64_t a, b, c;
};

TEST(PublishedTest, ThereIsNoValueAtFirst) {
  const Published<Three> published;
  Three three{};
  EXPECT_FALSE(published.read(three));
}

TEST(PublishedTest, ReadersNeverSeeHalfOfAValue) {
  Published<Three> published;
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; !ends; ++i) published.publish({i, 2 * i, 3 * i});
  });
  std::uint64_t last = 0;
  for (int reads = 0; reads < 10'000;) {
    Three three{};
    if (!published.read(three)) continue;
    ++reads;
    ASSERT_GE(three.a, last);
    ASSERT_EQ(three.b, 2 * three.a);
    ASSERT_EQ(three.c, 3 * three.a);
    last = three.a;
  }
  ends = true;
  writer.join();
}

TEST(PublishedTest, ReadersDoNotWaitForAWriterThatDiedAndAnotherMayWrite) {
  alignas(8) unsigned char bytes[sizeof(Published<Three>)] = {};
  bytes[0] = 5;  // an odd version
  auto& published = *reinterpret_cast<Published<Three>*>(bytes);
  Three three{};
  EXPECT_FALSE(published.read(three));
  published.publish({1, 2, 3});
  ASSERT_TRUE(published.read(three));
  EXPECT_EQ(three.c, 3U);
}

}  // namespace
}  // namespace tare::format
