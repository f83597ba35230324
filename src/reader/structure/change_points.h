// Finds where a sequence of vectors changes, and which of its parts are similar.
#pragma once

#include <cstddef>
#include <vector>

namespace tare::reader {

// A vector of non-negative shares. They need not add up to 1: all functions below normalise it.
using Shares = std::vector<double>;

// The squared Hellinger distance of two vectors of equal size, 0 to 1. It is 0 if the shares of one of them are all 0.
double distance(const Shares& a, const Shares& b);

// Divides a sequence into parts. Returns the index of the first vector of each part, the first of which is 0. Minimises
// a cost: for each part, `penalty` plus the sum of the squared distances of its vectors from their mean, where each
// vector is replaced by the square roots of its normalised shares. The method is optimal partitioning (Jackson et al.,
// IEEE Signal Processing Letters 2005). Its time is quadratic in the length of the sequence; PELT (Killick et al., JASA
// 2012) would prune it for longer sequences.
std::vector<std::size_t> change_points(const std::vector<Shares>& sequence, double penalty);

// Groups parts into kinds. Returns the kind of each part, numbered from 0: the nearest kind whose distance is less than
// `limit`, or else a new kind.
std::vector<std::size_t> kinds(const std::vector<Shares>& parts, double limit);

}  // namespace tare::reader
