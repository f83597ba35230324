#pragma once

#include <array>
#include <cstdint>

#include "mpi/abi/page.h"

namespace tare::mpi::abi {

/// The standard ABI, version 1.0, of MPI 5.0 (chapter "Application Binary Interface" and the
/// tables of constants in annex A; header mpi_abi.h, libmpi_abi.so.1). Handles are pointers to
/// incomplete types; predefined ones are small integers in them.
struct Standard : Callbacks {
  static constexpr Kind kind = Kind::standard;

  using Comm = struct StandardComm*;
  using Datatype = struct StandardDatatype*;
  using Errhandler = struct StandardErrhandler*;
  using File = struct StandardFile*;
  using Group = struct StandardGroup*;
  using Info = struct StandardInfo*;
  using Message = struct StandardMessage*;
  using Op = struct StandardOp*;
  using Request = struct StandardRequest*;
  using Session = struct StandardSession*;
  using Win = struct StandardWin*;
  using T_enum = struct StandardToolEnum*;
  using T_cvar_handle = struct StandardToolCvar*;
  using T_pvar_handle = struct StandardToolPvar*;
  using T_pvar_session = struct StandardToolSession*;
  using T_event_registration = struct StandardToolRegistration*;
  using T_event_instance = struct StandardToolEvent*;
  using T_cb_safety = int;
  using T_source_order = int;

  using Aint = std::intptr_t;
  using Offset = std::int64_t;
  using Count = std::int64_t;
  using Fint = int;

  struct F08_status;
  struct Status {
    int source;
    int tag;
    int error;
    int reserved[5];  // the implementation's own
  };

  static int source(const Status& status) noexcept { return status.source; }
  static int tag(const Status& status) noexcept { return status.tag; }
  static int error(const Status& status) noexcept { return status.error; }
  static constexpr bool has_byte_count = false;
  static Count byte_count(const Status&) noexcept { return -1; }
  // As MPICH, the first library of this ABI.
  static constexpr bool isendrecv_fills_status = false;
  static constexpr bool has_cancelled = false;
  static bool cancelled(const Status&) noexcept { return false; }

  static Comm comm_world() noexcept { return handle<Comm>(0x101); }
  static Comm comm_null() noexcept { return handle<Comm>(0x100); }
  static Request request_null() noexcept { return handle<Request>(0x180); }
  static Datatype datatype_null() noexcept { return handle<Datatype>(0x200); }
  static Message message_null() noexcept { return handle<Message>(0x128); }
  static Group group_null() noexcept { return handle<Group>(0x108); }
  // The size of a received message has to be asked for in a datatype.
  static Datatype datatype_byte() noexcept { return handle<Datatype>(0x247); }

  static void* in_place() noexcept { return reinterpret_cast<void*>(1); }
  static constexpr Status* status_ignore() noexcept { return nullptr; }
  static constexpr Status* statuses_ignore() noexcept { return nullptr; }

  static constexpr int any_source = -1;
  static constexpr int any_tag = -2;
  static constexpr int proc_null = -3;
  static constexpr int root = -4;
  static constexpr int undefined = -32766;
  static constexpr int lock_shared = 302;

  static constexpr int success = 0;
  static constexpr int err_arg = 13;
  static constexpr int err_truncate = 15;
  static constexpr int err_in_status = 19;

  // Monotonic, but not 0 to 3.
  static constexpr int thread_single = 0;
  static constexpr int thread_funneled = 1024;
  static constexpr int thread_serialized = 2048;
  static constexpr int thread_multiple = 4096;

  static constexpr int ident = 201;
  static constexpr int unequal = 204;
  static constexpr int cart = 211;
  static constexpr int graph = 212;
  static constexpr int dist_graph = 213;

  static constexpr int max_library_version_string = 8192;
  static constexpr int max_object_name = 128;

  static int builtin_size(Datatype datatype) noexcept {
    return builtin_size_of(reinterpret_cast<std::uintptr_t>(datatype));
  }

  /// The handles' code: 0x200 to 0x23f are types of the language, 0x240 to 0x27f and 0x2c0 to
  /// 0x2ff types of fixed size, the logarithm of which is in bits 5-3.
  static constexpr int builtin_size_of(std::uintptr_t datatype) noexcept {
    if ((datatype & ~std::uintptr_t{0xbf}) == 0x240) return 1 << (datatype >> 3 & 7);
    if ((datatype & ~std::uintptr_t{0x3f}) == 0x200) return language_sizes[datatype & 0x3f];
    return -1;
  }

  /// Nothing to look up.
  static bool bind(Lookup, void*) noexcept { return true; }

 private:
  // As long as the C compiler says. Fortran's are missing: they depend on the program's Fortran
  // compiler, and the library must be asked.
  static constexpr std::array<std::int8_t, 64> language_sizes = [] {
    std::array<std::int8_t, 64> size{};
    size.fill(-1);
    size[0x01] = sizeof(Aint);                       // MPI_AINT
    size[0x02] = sizeof(Count);                      // MPI_COUNT
    size[0x03] = sizeof(Offset);                     // MPI_OFFSET
    size[0x07] = 1;                                  // MPI_PACKED
    size[0x08] = sizeof(short);                      // MPI_SHORT
    size[0x09] = sizeof(int);                        // MPI_INT
    size[0x0a] = sizeof(long);                       // MPI_LONG
    size[0x0b] = sizeof(long long);                  // MPI_LONG_LONG
    size[0x0c] = sizeof(unsigned short);             // MPI_UNSIGNED_SHORT
    size[0x0d] = sizeof(unsigned);                   // MPI_UNSIGNED
    size[0x0e] = sizeof(unsigned long);              // MPI_UNSIGNED_LONG
    size[0x0f] = sizeof(unsigned long long);         // MPI_UNSIGNED_LONG_LONG
    size[0x10] = sizeof(float);                      // MPI_FLOAT
    size[0x12] = 2 * sizeof(float);                  // MPI_C_FLOAT_COMPLEX
    size[0x13] = 2 * sizeof(float);                  // MPI_CXX_FLOAT_COMPLEX
    size[0x14] = sizeof(double);                     // MPI_DOUBLE
    size[0x16] = 2 * sizeof(double);                 // MPI_C_DOUBLE_COMPLEX
    size[0x17] = 2 * sizeof(double);                 // MPI_CXX_DOUBLE_COMPLEX
    size[0x20] = sizeof(long double);                // MPI_LONG_DOUBLE
    size[0x24] = 2 * sizeof(long double);            // MPI_C_LONG_DOUBLE_COMPLEX
    size[0x25] = 2 * sizeof(long double);            // MPI_CXX_LONG_DOUBLE_COMPLEX
    size[0x28] = sizeof(float) + sizeof(int);        // MPI_FLOAT_INT
    size[0x29] = sizeof(double) + sizeof(int);       // MPI_DOUBLE_INT
    size[0x2a] = sizeof(long) + sizeof(int);         // MPI_LONG_INT
    size[0x2b] = 2 * sizeof(int);                    // MPI_2INT
    size[0x2c] = sizeof(short) + sizeof(int);        // MPI_SHORT_INT
    size[0x2d] = sizeof(long double) + sizeof(int);  // MPI_LONG_DOUBLE_INT
    size[0x38] = sizeof(bool);                       // MPI_C_BOOL
    size[0x39] = sizeof(bool);                       // MPI_CXX_BOOL
    size[0x3c] = sizeof(wchar_t);                    // MPI_WCHAR
    return size;
  }();

  template <typename Handle>
  static Handle handle(std::uintptr_t value) noexcept {
    return reinterpret_cast<Handle>(value);
  }
};

static_assert(Page<Standard>);

}  // namespace tare::mpi::abi
