#include "recorder/budget/common_shares.h"

#include <gtest/gtest.h>

namespace tare::recorder {
namespace {

TEST(CommonSharesTest, OfTheFirstSpellAllIsKept) {
  const CommonShares shares{};
  EXPECT_EQ(shares.of(1).traced, 1);
  EXPECT_EQ(shares.of(1).measured, 1);
}

TEST(CommonSharesTest, TheLeastThatWasOfferedCounts) {
  CommonShares shares{};
  shares.offer(2, {0.5, 1});
  shares.offer(2, {0.25, 1});
  shares.offer(2, {0.75, 0.5});
  EXPECT_NEAR(shares.of(2).traced, 0.25, 1e-4);
  EXPECT_NEAR(shares.of(2).measured, 0.5, 1e-4);
}

TEST(CommonSharesTest, ASpellIsReadWhileTheNextIsOffered) {
  CommonShares shares{};
  shares.offer(2, {1, 1});
  for (std::uint32_t spell = 2; spell < 100; ++spell) {
    shares.offer(spell + 1, {1.0 / spell, 1});
    EXPECT_NEAR(shares.of(spell).traced, 1.0 / (spell - 1), 1e-4);
  }
}

TEST(CommonSharesTest, ASmallShareIsNotNone) {
  CommonShares shares{};
  shares.offer(2, {1e-9, 1});
  EXPECT_GT(shares.of(2).traced, 0);
  shares.offer(3, {0, 1});
  EXPECT_EQ(shares.of(3).traced, 0);
}

}  // namespace
}  // namespace tare::recorder
