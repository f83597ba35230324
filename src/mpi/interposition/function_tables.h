// Where calls of MPI functions go, by the number of the function. dispatch.cpp fills the tables.
#pragma once

#include "format/functions.h"

extern "C" {
[[gnu::visibility("hidden")]] extern void* tare_slots[];
[[gnu::visibility("hidden")]] extern void* tare_profiling_slots[];
[[gnu::visibility("hidden")]] extern void* tare_next[];
[[gnu::visibility("hidden")]] extern void* tare_profiling_next[];
// The functions of the MPI library itself.
[[gnu::visibility("hidden")]] extern void* tare_library[tare::format::mpi_function_count + 1];
}

namespace tare::mpi {

using format::Function;

// Functions that the loaded library does not have.
[[gnu::visibility("hidden")]] extern bool missing[format::mpi_function_count + 1];

inline bool has(Function function) noexcept { return !missing[static_cast<unsigned>(function)]; }

// What a measured call reaches below this library.
[[gnu::visibility("hidden")]] extern void* below_table[format::mpi_function_count + 1];

template <class Signature>
Signature* below(Function function) noexcept {
  return reinterpret_cast<Signature*>(below_table[static_cast<unsigned>(function)]);
}

// A function of the MPI library itself, below every tool. Only to be called inside a measured call.
template <class Signature>
Signature* library(Function function) noexcept {
  return reinterpret_cast<Signature*>(tare_library[static_cast<unsigned>(function)]);
}

}  // namespace tare::mpi
