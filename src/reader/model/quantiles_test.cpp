#include "reader/model/quantiles.h"

#include <gtest/gtest.h>

namespace tare::reader {
namespace {

// Values of a printed table (Abramowitz and Stegun, table 26.10).
TEST(Quantiles, AreThoseOfStudentsDistribution) {
  constexpr double table[][2] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},
                                 {7, 2.365},  {19, 2.093}, {60, 2.000}, {1e9, 1.95996}};
  for (const auto& [freedom, quantile] : table) EXPECT_NEAR(student_95(freedom), quantile, 0.002 * quantile) << freedom;
}

}  // namespace
}  // namespace tare::reader
