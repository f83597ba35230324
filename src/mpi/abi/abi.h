#pragma once

#include "format/process_record.h"

/// The binary interfaces of MPI that tare measures, each described by a *page*: Mpich (mpich.h),
/// OpenMpi (openmpi.h) and Standard (standard.h). What a page must offer is the concept Page (page.h).
namespace tare::mpi::abi {

/// Which binary interface the MPI library of this process has.
///
/// How to recognise it, given the object that defines the MPI_Init the program would call (for
/// instance by dladdr on the address that dlsym gives), in this order:
///
///   1. Its soname starts with "libmpi_abi.so": standard. MPI 5.0 (chapter "Application Binary
///      Interface") fixes that name. Must come first: Open MPI 6 keeps its own symbols, the next
///      line's included, in libopen_mpi.so beneath its libmpi_abi.so.
///   2. The symbol `ompi_mpi_comm_world` is defined, in that object or one it needs: openmpi.
///      MPI_COMM_WORLD is its address, so that every Open MPI has it; no other MPI does.
///   3. Else mpich: the members of the MPICH ABI initiative. They all define the variable
///      `MPI_UNWEIGHTED`; neither of the other interfaces does, where it is a constant.
///
/// True for Open MPI 4.1 and 5.0, MPICH 4.0 and 5.0, Intel MPI 2021.19, and for libmpi_abi.so.1 of
/// the latter two; abi_test.cpp checks it on each.
///
/// Not a criterion: MPI_Abi_get_version and the other functions new in MPI 5.0, which MPICH and
/// Intel MPI define in libmpi.so.12 as well; MPI_F08_STATUS_IGNORE and the like, which Intel's
/// libmpi_abi.so.1 keeps; the version MPI_Get_version gives; the name of the file alone, for
/// Debian calls MPICH's library libmpich.so.12 and Open MPI's libmpi.so.40.
using Kind = format::Abi;

}  // namespace tare::mpi::abi
