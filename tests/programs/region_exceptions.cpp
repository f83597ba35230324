// Exceptions that are thrown and caught within parallel regions of OpenMP: half of the threads' parts, and all in
// between, throw one. What is printed is how many were caught.
#include <omp.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

int main() {
  int caught = 0;
  for (int step = 0; step < 100; ++step) {
#pragma omp parallel num_threads(2) reduction(+ : caught)
    try {
      const std::vector<int> values(10);
      caught += values.at(static_cast<std::size_t>(step % 20));
    } catch (const std::out_of_range&) {
      ++caught;
    }
  }
  std::printf("%d\n", caught);
}
