#include "reader/structure/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tare::reader {
namespace {

double total(const Shares& of) { return std::accumulate(of.begin(), of.end(), 0.0); }

// The square roots of the normalised shares, a vector of length 1. The Euclidean distance of two such vectors is
// proportional to the Hellinger distance. A vector of zeros stays as it is.
Shares roots(const Shares& of) {
  const double whole = total(of);
  Shares result(of.size());
  if (whole > 0)
    for (std::size_t i = 0; i < of.size(); ++i) result[i] = std::sqrt(of[i] / whole);
  return result;
}

double dot(const Shares& a, const Shares& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

}  // namespace

double distance(const Shares& a, const Shares& b) {
  const Shares of_a = roots(a), of_b = roots(b);
  if (total(of_a) <= 0 || total(of_b) <= 0) return 0;
  return std::clamp(1 - dot(of_a, of_b), 0.0, 1.0);
}

std::vector<std::size_t> change_points(const std::vector<Shares>& sequence, double penalty) {
  const std::size_t n = sequence.size();
  if (n == 0) return {};
  std::vector<Shares> points;
  for (const Shares& each : sequence) points.push_back(roots(each));
  // least[i]: the least cost of the first i vectors; part_begin[i]: where the last part of this solution begins.
  std::vector<double> least(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> part_begin(n + 1);
  least[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Shares sum(points[i].size());
    double squares = 0, of_sum = 0;
    for (std::size_t j = i; j < n; ++j) {
      const double own = dot(points[j], points[j]);
      of_sum += 2 * dot(sum, points[j]) + own;
      squares += own;
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += points[j][k];
      const double cost = least[i] + std::max(squares - of_sum / static_cast<double>(j - i + 1), 0.0) + penalty;
      if (cost < least[j + 1]) {
        least[j + 1] = cost;
        part_begin[j + 1] = i;
      }
    }
  }
  std::vector<std::size_t> begins;
  for (std::size_t end = n; end > 0; end = part_begin[end]) begins.push_back(part_begin[end]);
  std::reverse(begins.begin(), begins.end());
  return begins;
}

std::vector<std::size_t> kinds(const std::vector<Shares>& parts, double limit) {
  std::vector<Shares> known;
  std::vector<std::size_t> result;
  for (const Shares& part : parts) {
    std::size_t nearest = known.size();
    double least = limit;
    for (std::size_t k = 0; k < known.size(); ++k)
      if (const double far = distance(known[k], part); far < least) {
        least = far;
        nearest = k;
      }
    if (nearest == known.size()) known.push_back(part);
    result.push_back(nearest);
  }
  return result;
}

}  // namespace tare::reader
