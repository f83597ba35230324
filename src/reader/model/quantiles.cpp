#include "reader/model/quantiles.h"

#include <iterator>

namespace tare::reader {

// The Cornish-Fisher expansion (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5). It is too small
// below 3 degrees of freedom, so 1 and 2 have their own values.
double student_95(double freedom) noexcept {
  if (freedom <= 1) return 12.7062;
  if (freedom <= 2) return 4.30265;
  constexpr double z = normal_95, z2 = z * z;
  constexpr double terms[] = {z, (z2 + 1) * z / 4, ((5 * z2 + 16) * z2 + 3) * z / 96,
                              (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384,
                              ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160};
  double sum = 0;
  for (std::size_t i = std::size(terms); i-- > 0;) sum = sum / freedom + terms[i];
  return sum;
}

}  // namespace tare::reader
