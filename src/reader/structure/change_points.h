// Where a sequence of vectors changes, and which of its parts are alike.
#pragma once

#include <cstddef>
#include <vector>

namespace tare::reader {

// A vector of shares: none is negative. Its length does not matter.
using Shares = std::vector<double>;

// How different two vectors of shares are: the squared Hellinger distance, 0 to 1. One without shares is like all.
double distance(const Shares& a, const Shares& b);

// The first indices of the parts; the first is 0. Minimises the sum of the squared distances of the vectors, taken to
// length 1, from the mean of their part, and `penalty` for each part: optimal partitioning (Jackson et al., IEEE Signal
// Processing Letters 2005), which PELT (Killick et al., JASA 2012) prunes for sequences longer than these.
std::vector<std::size_t> change_points(const std::vector<Shares>& sequence, double penalty);

// The number of the kind of each: that of the nearest kind which is nearer than `limit`, else a new one.
std::vector<std::size_t> kinds(const std::vector<Shares>& parts, double limit);

}  // namespace tare::reader
