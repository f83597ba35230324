#pragma once

#include <cstddef>

#include "mpi/abi/page.h"
#include "recorder/every_call.h"

namespace tare::mpi::abi {

/// The interface of Open MPI 4.1 and 5.0 (libmpi.so.40). Handles are pointers to objects;
/// predefined ones are addresses of variables of the library.
struct OpenMpi : Callbacks {
  static constexpr Kind kind = Kind::openmpi;

  using Comm = struct OpenMpiComm*;
  using Datatype = struct OpenMpiDatatype*;
  using Errhandler = struct OpenMpiErrhandler*;
  using File = struct OpenMpiFile*;
  using Group = struct OpenMpiGroup*;
  using Info = struct OpenMpiInfo*;
  using Message = struct OpenMpiMessage*;
  using Op = struct OpenMpiOp*;
  using Request = struct OpenMpiRequest*;
  using Session = struct OpenMpiSession*;  // since 5.0
  using Win = struct OpenMpiWin*;
  using T_enum = struct OpenMpiToolEnum*;
  using T_cvar_handle = struct OpenMpiToolCvar*;
  using T_pvar_handle = struct OpenMpiToolPvar*;
  using T_pvar_session = struct OpenMpiToolSession*;
  // Neither version has MPI_T's events; the types let the same wrappers compile.
  using T_event_registration = struct OpenMpiToolRegistration*;
  using T_event_instance = struct OpenMpiToolEvent*;
  using T_cb_safety = int;
  using T_source_order = int;

  using Aint = std::ptrdiff_t;
  using Offset = long long;
  using Count = long long;
  using Fint = int;

  struct F08_status;
  struct Status {
    int source;
    int tag;
    int error;
    int cancelled;
    std::size_t bytes;
  };

  static int source(const Status& status) noexcept { return status.source; }
  static int tag(const Status& status) noexcept { return status.tag; }
  static int error(const Status& status) noexcept { return status.error; }
  static constexpr bool has_byte_count = true;
  static Count byte_count(const Status& status) noexcept { return static_cast<Count>(status.bytes); }
  static constexpr bool isendrecv_fills_status = true;
  static constexpr bool has_cancelled = true;
  static bool cancelled(const Status& status) noexcept { return status.cancelled != 0; }

  static Comm comm_world() noexcept { return handles.comm_world; }
  static Comm comm_null() noexcept { return handles.comm_null; }
  static Request request_null() noexcept { return null_request; }
  static Datatype datatype_null() noexcept { return handles.datatype_null; }
  static Message message_null() noexcept { return handles.message_null; }
  static Group group_null() noexcept { return handles.group_null; }
  static Datatype datatype_byte() noexcept { return handles.datatype_byte; }

  static void* in_place() noexcept { return reinterpret_cast<void*>(1); }
  static constexpr Status* status_ignore() noexcept { return nullptr; }
  static constexpr Status* statuses_ignore() noexcept { return nullptr; }

  static constexpr int proc_null = -2;
  static constexpr int any_source = -1;
  static constexpr int any_tag = -1;
  static constexpr int root = -4;
  static constexpr int undefined = -32766;
  static constexpr int lock_shared = 2;

  static constexpr int success = 0;
  static constexpr int err_arg = 13;
  static constexpr int err_truncate = 15;
  static constexpr int err_in_status = 18;

  static constexpr int thread_single = 0;
  static constexpr int thread_funneled = 1;
  static constexpr int thread_serialized = 2;
  static constexpr int thread_multiple = 3;

  static constexpr int ident = 0;
  static constexpr int unequal = 3;
  static constexpr int cart = 1;
  static constexpr int graph = 2;
  static constexpr int dist_graph = 3;

  static constexpr int max_library_version_string = 256;
  static constexpr int max_object_name = 64;

  /// The size is inside the object, whose layout is not part of the interface.
  static constexpr int builtin_size(Datatype) noexcept { return -1; }

  static bool bind(Lookup lookup, void* context) noexcept {
    Handles found{};
    Request null{};
    const bool complete = find(found.comm_world, "ompi_mpi_comm_world", lookup, context) &&
                          find(found.comm_null, "ompi_mpi_comm_null", lookup, context) &&
                          find(null, "ompi_request_null", lookup, context) &&
                          find(found.datatype_null, "ompi_mpi_datatype_null", lookup, context) &&
                          find(found.datatype_byte, "ompi_mpi_byte", lookup, context) &&
                          find(found.message_null, "ompi_message_null", lookup, context) &&
                          find(found.group_null, "ompi_mpi_group_null", lookup, context);
    if (!complete) return false;
    handles = found;
    null_request = null;
    return true;
  }

 private:
  struct Handles {
    Comm comm_world;
    Comm comm_null;
    Datatype datatype_null;
    Datatype datatype_byte;
    Message message_null;
    Group group_null;
  };
  // Hidden, so that an access is one load also from a shared library.
  [[gnu::visibility("hidden")]] static inline constinit Handles handles{};
  // Aligned, because it is the first of the variables of every call in the library.
  TARE_EVERY_CALL alignas(64) [[gnu::visibility("hidden")]] static inline constinit Request null_request{};

  template <typename Handle>
  static bool find(Handle& handle, const char* symbol, Lookup lookup, void* context) noexcept {
    handle = static_cast<Handle>(lookup(symbol, context));
    return handle != nullptr;
  }
};

static_assert(Page<OpenMpi>);

}  // namespace tare::mpi::abi
