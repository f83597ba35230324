// The two-sided 95 % quantiles that make confidence intervals of standard errors.
#pragma once

namespace tare::reader {

inline constexpr double normal_95 = 1.959964;

// Student's t distribution, for 1 degree of freedom or more, accurate to 0.6 %.
double student_95(double freedom) noexcept;

}  // namespace tare::reader
