#pragma once

namespace tare::mpi::abi {

/// The function types of MPI's callbacks, named as in MPI without its prefix; every page inherits
/// them. A wrapper passes pointers to them on and never calls one, so that one opaque type serves
/// for all, in every ABI.
struct Callbacks {
  using Function = void();

  using Comm_copy_attr_function = Function;
  using Comm_delete_attr_function = Function;
  using Type_copy_attr_function = Function;
  using Type_delete_attr_function = Function;
  using Win_copy_attr_function = Function;
  using Win_delete_attr_function = Function;

  using Comm_errhandler_function = Function;
  using File_errhandler_function = Function;
  using Session_errhandler_function = Function;
  using Win_errhandler_function = Function;

  using Datarep_conversion_function = Function;
  using Datarep_conversion_function_c = Function;
  using Datarep_extent_function = Function;

  using Grequest_cancel_function = Function;
  using Grequest_free_function = Function;
  using Grequest_query_function = Function;

  using User_function = Function;
  using User_function_c = Function;

  using T_event_cb_function = Function;
  using T_event_dropped_cb_function = Function;
  using T_event_free_cb_function = Function;

  // MPI-1 names: the first two deprecated, the third (MPI_Errhandler_create) removed in MPI 3.0
  // but still exported by the libraries.
  using Copy_function = Function;
  using Delete_function = Function;
  using Handler_function = Function;
};

}  // namespace tare::mpi::abi
