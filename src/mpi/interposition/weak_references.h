// Weak references to functions that the loaded MPI library does not have.
//
// A program built for a newer MPI can test at run time whether a function exists (`if (MPI_Bcast_c)` with a
// weak declaration; mpi4py does). Because this library exports every function of the standard, such a test
// would succeed for functions that cannot be called. The references are set back to null, as they would be
// without this library.
#pragma once

namespace tare::mpi {

// Sets the weak references of all objects that are loaded now to functions for which `is_missing(number)` holds to
// null. Calls the loader: hold no lock. Idempotent.
void null_weak_references(bool (*is_missing)(unsigned function)) noexcept;

}  // namespace tare::mpi
