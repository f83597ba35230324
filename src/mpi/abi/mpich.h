#pragma once

#include <array>
#include <cstdint>

#include "mpi/abi/page.h"

namespace tare::mpi::abi {

/// The MPICH ABI initiative's interface (libmpi.so.12, Debian: libmpich.so.12): MPICH 4.0 to 5.0,
/// Intel MPI 2021, MVAPICH, Cray MPICH. Handles are ints whose bits tell what they are
/// (src/include/mpir_objects.h of MPICH): bits 31-30 the kind (1 predefined, 2 and 3 allocated),
/// bits 29-26 the type of object, the rest an index.
struct Mpich : Callbacks {
  static constexpr Kind kind = Kind::mpich;

  using Comm = int;
  using Datatype = int;
  using Errhandler = int;
  using Group = int;
  using Info = int;
  using Message = int;
  using Op = int;
  using Request = int;
  using Session = int;
  using Win = int;
  // ROMIO's and MPI_T's objects are pointers even here.
  using File = struct MpichFile*;
  using T_enum = struct MpichToolEnum*;
  using T_cvar_handle = struct MpichToolCvar*;
  using T_pvar_handle = struct MpichToolPvar*;
  using T_pvar_session = struct MpichToolSession*;
  using T_event_registration = struct MpichToolRegistration*;
  using T_event_instance = struct MpichToolEvent*;
  using T_cb_safety = int;
  using T_source_order = int;

  using Aint = long;
  using Offset = long long;
  using Count = long long;
  using Fint = int;

  struct F08_status;
  struct Status {
    unsigned count_low;
    unsigned count_high_and_cancelled;  // bit 0: cancelled; bits 1-31: the count's upper bits
    int source;
    int tag;
    int error;
  };

  static int source(const Status& status) noexcept { return status.source; }
  static int tag(const Status& status) noexcept { return status.tag; }
  static int error(const Status& status) noexcept { return status.error; }
  static constexpr bool has_byte_count = true;
  static Count byte_count(const Status& status) noexcept {
    return static_cast<Count>(status.count_high_and_cancelled >> 1) << 32 | status.count_low;
  }
  // MPICH leaves what it was.
  static constexpr bool isendrecv_fills_status = false;
  static constexpr bool has_cancelled = true;
  static bool cancelled(const Status& status) noexcept { return (status.count_high_and_cancelled & 1) != 0; }

  static constexpr Comm comm_world() noexcept { return 0x44000000; }
  static constexpr Comm comm_null() noexcept { return 0x04000000; }
  static constexpr Request request_null() noexcept { return 0x2c000000; }
  static constexpr Datatype datatype_null() noexcept { return 0x0c000000; }
  static constexpr Message message_null() noexcept { return 0x2c000000; }
  static constexpr Group group_null() noexcept { return 0x08000000; }

  static constexpr Datatype datatype_byte() noexcept { return 0x4c00010d; }

  static void* in_place() noexcept { return reinterpret_cast<void*>(-1L); }
  static Status* status_ignore() noexcept { return reinterpret_cast<Status*>(1); }
  static Status* statuses_ignore() noexcept { return reinterpret_cast<Status*>(1); }

  static constexpr int proc_null = -1;
  static constexpr int any_source = -2;
  static constexpr int any_tag = -1;
  static constexpr int root = -3;
  static constexpr int undefined = -32766;
  static constexpr int lock_shared = 235;

  static constexpr int success = 0;
  static constexpr int err_arg = 12;
  static constexpr int err_truncate = 14;
  static constexpr int err_in_status = 17;

  static constexpr int thread_single = 0;
  static constexpr int thread_funneled = 1;
  static constexpr int thread_serialized = 2;
  static constexpr int thread_multiple = 3;

  static constexpr int ident = 0;
  static constexpr int unequal = 3;
  static constexpr int graph = 1;
  static constexpr int cart = 2;
  static constexpr int dist_graph = 3;

  static constexpr int max_library_version_string = 8192;
  static constexpr int max_object_name = 128;

  /// Predefined datatypes (0x4c00ssii) carry their size in bits 15-8. The pair types whose
  /// parts leave a gap are the first five preallocated datatypes instead (0x8c000000 to 4).
  static constexpr int builtin_size(Datatype datatype) noexcept {
    const auto bits = static_cast<unsigned>(datatype);
    if ((bits & 0xffff0000U) == 0x4c000000U) return static_cast<int>(bits >> 8 & 0xffU);
    const unsigned pair = bits - 0x8c000000U;
    return pair < pair_sizes.size() ? pair_sizes[pair] : -1;
  }

  /// Nothing to look up.
  static bool bind(Lookup, void*) noexcept { return true; }

 private:
  static constexpr std::array<std::int8_t, 5> pair_sizes{
      sizeof(float) + sizeof(int),        // MPI_FLOAT_INT
      sizeof(double) + sizeof(int),       // MPI_DOUBLE_INT
      sizeof(long) + sizeof(int),         // MPI_LONG_INT
      sizeof(short) + sizeof(int),        // MPI_SHORT_INT
      sizeof(long double) + sizeof(int),  // MPI_LONG_DOUBLE_INT
  };
};

static_assert(Page<Mpich>);

}  // namespace tare::mpi::abi
