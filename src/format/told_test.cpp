#include "format/told.h"

#include <gtest/gtest.h>

#include <thread>

namespace tare::format {
namespace {

struct Three {
  std::uint64_t a, b, c;
};

TEST(Told, NothingIsToldAtFirst) {
  const Told<Three> told;
  Three three{};
  EXPECT_FALSE(told.hear(three));
}

TEST(Told, ReadersNeverSeeHalfOfIt) {
  Told<Three> told;
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; !ends; ++i) told.tell({i, 2 * i, 3 * i});
  });
  std::uint64_t last = 0;
  for (int heard = 0; heard < 10'000;) {
    Three three{};
    if (!told.hear(three)) continue;
    ++heard;
    ASSERT_GE(three.a, last);
    ASSERT_EQ(three.b, 2 * three.a);
    ASSERT_EQ(three.c, 3 * three.a);
    last = three.a;
  }
  ends = true;
  writer.join();
}

TEST(Told, AWriterThatDiedAtItIsNotWaitedForAndMayHaveASuccessor) {
  alignas(8) unsigned char bytes[sizeof(Told<Three>)] = {};
  bytes[0] = 5;  // an odd version
  auto& told = *reinterpret_cast<Told<Three>*>(bytes);
  Three three{};
  EXPECT_FALSE(told.hear(three));
  told.tell({1, 2, 3});
  ASSERT_TRUE(told.hear(three));
  EXPECT_EQ(three.c, 3U);
}

}  // namespace
}  // namespace tare::format
