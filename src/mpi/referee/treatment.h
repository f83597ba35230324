// What the referee does with the calls of a function (mpi/treatments.py says which).
#pragma once

#include <cstdint>

#include "format/functions.h"

namespace tare::mpi::referee {

enum class Kind : std::uint8_t {
  passes,      // makes, frees or changes an object: every call passes through all tools
  ends,        // the same, and ends the use of MPI
  routed,      // the spell decides where the call goes. So it does for all that follow:
  ticks,       // is counted as progress
  anchors,     // the same, and no rank leaves it before all have entered it
  starts,      // starts a request, whose handle it stores where `argument` points
  begins_one,  // starts the persistent request to which `argument` points
  begins_all,  // those of the array that is `argument`; the first argument is its length
  waits_one,   // completes the request to which `argument` points
  waits_all,   // completes those of the array that is `argument`; the first argument is its length
  waits_any,   // completes one of them: which, it tells
  waits_some,  // at least one
  tests_one,   // the same without waiting
  tests_all,
  tests_any,
  tests_some,
  frees,  // a request
};

struct Treatment {
  Kind kind;
  std::uint8_t argument;
};

// By the number of the function.
inline constexpr Treatment treatments[format::mpi_function_count + 1] = {
    {Kind::passes, 0},
#define TARE_TREATMENT(name, kind, argument) {Kind::kind, argument},
#include "treatments.inc"
#undef TARE_TREATMENT
};

}  // namespace tare::mpi::referee
