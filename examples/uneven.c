// A loop whose iterations take longer and longer, which OpenMP gives to threads in equal halves.
#include <math.h>
#include <omp.h>
#include <stdio.h>

#define COUNT 2000

static double term(int i) {
  double sum = 0;
  for (int j = 0; j < 20 * i; ++j) sum += sqrt(j);
  return sum;
}

int main(void) {
  double sum = 0;
  for (int step = 0; step < 5; ++step) {
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < COUNT; ++i) sum += term(i);
  }
  printf("%g\n", sum);
  return 0;
}
