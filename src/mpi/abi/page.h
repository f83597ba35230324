#pragma once

#include <concepts>
#include <type_traits>

#include "mpi/abi/abi.h"
#include "mpi/abi/callbacks.h"

namespace tare::mpi::abi {

/// Finds the address of a symbol as the program itself would; null if there is none.
///
/// It must look in the global scope first (dlsym with RTLD_DEFAULT) and only then in the handle of
/// an MPI library loaded with RTLD_LOCAL. The library's own copy is the wrong one when the
/// executable holds a copy relocation of the variable, as non-PIC and PIE executables linked with
/// Open MPI do for every handle constant they mention: then all, the library included, use the
/// executable's.
using Lookup = void* (*)(const char* symbol, void* context) noexcept;

template <typename T, typename Value>
concept Gives = std::same_as<std::remove_cvref_t<T>, Value>;

/// What a wrapper may ask of a page A. All of it is noexcept, static and stateless, but for values
/// that are addresses in the MPI library: `bind` looks those up, once, before the first wrapper
/// runs and in one thread. It gives false, and leaves the page as it was, if the library is not of
/// this ABI. Before `bind`, these values are null.
template <typename A>
concept Page = std::derived_from<A, Callbacks> &&
    requires(Lookup lookup, void* context, const typename A::Status& status, typename A::Datatype datatype) {
  // Handles and integers, with MPI's calling convention and size.
  requires sizeof(typename A::Aint) == sizeof(void*);
  requires std::signed_integral<typename A::Aint>;
  requires std::signed_integral<typename A::Offset>;
  requires std::signed_integral<typename A::Count>;
  requires std::signed_integral<typename A::Fint>;
  requires sizeof(typename A::T_cb_safety) == sizeof(int);
  requires sizeof(typename A::T_source_order) == sizeof(int);
  requires std::is_scalar_v<typename A::Errhandler>;
  requires std::is_scalar_v<typename A::Op>;
  requires std::is_pointer_v<typename A::T_enum>;
  requires std::is_pointer_v<typename A::T_cvar_handle>;
  requires std::is_pointer_v<typename A::T_pvar_handle>;
  requires std::is_pointer_v<typename A::T_pvar_session>;
  requires std::is_pointer_v<typename A::T_event_registration>;
  requires std::is_pointer_v<typename A::T_event_instance>;
  typename A::F08_status;  // incomplete: only pointers to it are passed on

  { A::kind } -> Gives<Kind>;
  { A::bind(lookup, context) }
  noexcept->std::same_as<bool>;

  // Handles and the values that stand for a missing argument.
  { A::comm_world() }
  noexcept->std::same_as<typename A::Comm>;
  { A::comm_null() }
  noexcept->std::same_as<typename A::Comm>;
  { A::request_null() }
  noexcept->std::same_as<typename A::Request>;
  { A::datatype_byte() }
  noexcept->std::same_as<typename A::Datatype>;
  { A::datatype_null() }
  noexcept->std::same_as<typename A::Datatype>;
  { A::message_null() }
  noexcept->std::same_as<typename A::Message>;
  { A::group_null() }
  noexcept->std::same_as<typename A::Group>;
  { A::in_place() }
  noexcept->std::same_as<void*>;
  { A::status_ignore() }
  noexcept->std::same_as<typename A::Status*>;
  { A::statuses_ignore() }
  noexcept->std::same_as<typename A::Status*>;

  // Integer constants.
  { A::proc_null } -> Gives<int>;
  { A::any_source } -> Gives<int>;
  { A::any_tag } -> Gives<int>;
  { A::root } -> Gives<int>;
  { A::undefined } -> Gives<int>;
  { A::lock_shared } -> Gives<int>;
  { A::success } -> Gives<int>;
  { A::err_arg } -> Gives<int>;
  { A::err_truncate } -> Gives<int>;
  { A::err_in_status } -> Gives<int>;
  { A::thread_single } -> Gives<int>;
  { A::thread_funneled } -> Gives<int>;
  { A::thread_serialized } -> Gives<int>;
  { A::thread_multiple } -> Gives<int>;
  { A::ident } -> Gives<int>;
  { A::unequal } -> Gives<int>;
  { A::cart } -> Gives<int>;
  { A::graph } -> Gives<int>;
  { A::dist_graph } -> Gives<int>;
  { A::max_library_version_string } -> Gives<int>;
  { A::max_object_name } -> Gives<int>;

  // Fields of a status that MPI has filled in. Where the ABI does not tell the size of the
  // message, has_byte_count is false, byte_count gives -1, and MPI_Get_count must be asked;
  // cancelled, likewise, gives false without has_cancelled. isendrecv_fills_status: whether the
  // status of a request of MPI_Isendrecv tells of the receive, as it should. As MPI says, `error` is meaningful
  // only after a call that gave err_in_status.
  { A::source(status) }
  noexcept->std::same_as<int>;
  { A::tag(status) }
  noexcept->std::same_as<int>;
  { A::error(status) }
  noexcept->std::same_as<int>;
  { A::has_byte_count } -> Gives<bool>;
  { A::byte_count(status) }
  noexcept->std::same_as<typename A::Count>;
  { A::isendrecv_fills_status } -> Gives<bool>;
  { A::has_cancelled } -> Gives<bool>;
  { A::cancelled(status) }
  noexcept->std::same_as<bool>;

  // Bytes of a predefined datatype; -1 if the handle does not tell and MPI_Type_size must be
  // asked. -1 for every derived datatype.
  { A::builtin_size(datatype) }
  noexcept->std::same_as<int>;
};

}  // namespace tare::mpi::abi
