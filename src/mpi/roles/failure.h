// What a call that returned an error has done nevertheless.
#pragma once

#include "mpi/calls/measure.h"

namespace tare::mpi {

template <class A>
[[gnu::cold]] int error_class_of(int error) noexcept {
  int error_class = error;
  library<int(int, int*)>(Function::MPI_Error_class)(error, &error_class);
  return error_class;
}

// Whether a message was too long for its receive, which has taken it.
template <class A>
[[gnu::cold]] bool was_truncated(int error) noexcept {
  return error_class_of<A>(error) == A::err_truncate;
}

// Whether MPI refused an argument, and has done nothing. The classes of such errors have the lowest numbers.
template <class A>
[[gnu::cold]] bool was_refused(int error) noexcept {
  const int error_class = error_class_of<A>(error);
  return error_class > A::success && error_class <= A::err_arg;
}

}  // namespace tare::mpi
