/* A library that a program loads itself: uses a processor for so many ms. */
#include "compute.h"

void compute_in_library(double ms) { compute(ms); }
