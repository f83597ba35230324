#include "format/profile_row.h"

#include <gtest/gtest.h>

namespace tare::format {
namespace {

TEST(ProfileRow, ABinOfDurationsHasThoseOfOneWidth) {
  for (const std::uint64_t ticks : {0, 1, 63}) EXPECT_EQ(duration_bin(ticks), 0U) << ticks;
  for (unsigned bin = 1; bin < duration_bins; ++bin) {
    EXPECT_EQ(duration_bin(std::uint64_t{64} << (bin - 1)), bin);
    EXPECT_EQ(duration_bin((std::uint64_t{64} << (bin - 1)) - 1), bin - 1);
  }
  EXPECT_EQ(duration_bin(UINT64_MAX), duration_bins - 1);
}

}  // namespace
}  // namespace tare::format
