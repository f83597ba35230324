#pragma once

#include <cstdint>

#include "mpi/abi/page.h"

namespace tare::mpi::abi {

/// The standard ABI, version 1.0, of MPI 5.0 (chapter "Application Binary Interface" and the
/// tables of constants in annex A; header mpi_abi.h, libmpi_abi.so.1). Handles are pointers to
/// incomplete types; predefined ones are small integers in them.
struct Standard : Callbacks {
  static constexpr Kind kind = Kind::standard;
  static constexpr const char* name = "standard";

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
  static constexpr bool has_cancelled = false;
  static bool cancelled(const Status&) noexcept { return false; }

  static Comm comm_world() noexcept { return handle<Comm>(0x101); }
  static Comm comm_self() noexcept { return handle<Comm>(0x102); }
  static Comm comm_null() noexcept { return handle<Comm>(0x100); }
  static Request request_null() noexcept { return handle<Request>(0x180); }
  static Datatype datatype_null() noexcept { return handle<Datatype>(0x200); }
  static Message message_null() noexcept { return handle<Message>(0x128); }
  static Message message_no_proc() noexcept { return handle<Message>(0x129); }
  static Win win_null() noexcept { return handle<Win>(0x110); }
  static File file_null() noexcept { return handle<File>(0x118); }
  static Group group_null() noexcept { return handle<Group>(0x108); }
  static Session session_null() noexcept { return handle<Session>(0x120); }
  static Info info_null() noexcept { return handle<Info>(0x130); }

  static constexpr void* bottom() noexcept { return nullptr; }
  static void* in_place() noexcept { return reinterpret_cast<void*>(1); }
  static constexpr Status* status_ignore() noexcept { return nullptr; }
  static constexpr Status* statuses_ignore() noexcept { return nullptr; }
  static constexpr int* errcodes_ignore() noexcept { return nullptr; }
  static int* unweighted() noexcept { return reinterpret_cast<int*>(10); }
  static int* weights_empty() noexcept { return reinterpret_cast<int*>(11); }

  static constexpr int any_source = -1;
  static constexpr int any_tag = -2;
  static constexpr int proc_null = -3;
  static constexpr int root = -4;
  static constexpr int undefined = -32766;

  static constexpr int success = 0;
  static constexpr int err_unknown = 14;
  static constexpr int err_other = 16;
  static constexpr int err_intern = 17;
  static constexpr int err_pending = 18;
  static constexpr int err_in_status = 19;
  static constexpr int err_unsupported_operation = 55;

  // Monotonic, but not 0 to 3.
  static constexpr int thread_single = 0;
  static constexpr int thread_funneled = 1024;
  static constexpr int thread_serialized = 2048;
  static constexpr int thread_multiple = 4096;

  static constexpr int ident = 201;
  static constexpr int congruent = 202;
  static constexpr int similar = 203;
  static constexpr int unequal = 204;
  static constexpr int cart = 211;
  static constexpr int graph = 212;
  static constexpr int dist_graph = 213;
  static constexpr int comm_type_shared = 221;
  static constexpr int tag_ub = 501;
  static constexpr int keyval_invalid = 0;

  static constexpr int max_library_version_string = 8192;
  static constexpr int max_object_name = 128;
  static constexpr int max_processor_name = 256;
  static constexpr int max_error_string = 512;

  static int builtin_size(Datatype datatype) noexcept {
    return builtin_size_of(reinterpret_cast<std::uintptr_t>(datatype));
  }

  /// The handles' code: 0x200 to 0x23f are types of the language, 0x240 to 0x27f and 0x2c0 to
  /// 0x2ff types of fixed size, the logarithm of which is in bits 5-3. The languages' types
  /// are as long as the C compiler says; those of Fortran depend on the program's Fortran
  /// compiler and must be asked.
  static constexpr int builtin_size_of(std::uintptr_t datatype) noexcept {
    if ((datatype & ~std::uintptr_t{0xbf}) == 0x240) return 1 << (datatype >> 3 & 7);
    switch (datatype) {
      case 0x201:
        return sizeof(Aint);  // MPI_AINT
      case 0x202:
        return sizeof(Count);  // MPI_COUNT
      case 0x203:
        return sizeof(Offset);  // MPI_OFFSET
      case 0x207:
        return 1;  // MPI_PACKED
      case 0x208:
        return sizeof(short);  // MPI_SHORT
      case 0x209:
        return sizeof(int);  // MPI_INT
      case 0x20a:
        return sizeof(long);  // MPI_LONG
      case 0x20b:
        return sizeof(long long);  // MPI_LONG_LONG
      case 0x20c:
        return sizeof(unsigned short);  // MPI_UNSIGNED_SHORT
      case 0x20d:
        return sizeof(unsigned);  // MPI_UNSIGNED
      case 0x20e:
        return sizeof(unsigned long);  // MPI_UNSIGNED_LONG
      case 0x20f:
        return sizeof(unsigned long long);  // MPI_UNSIGNED_LONG_LONG
      case 0x210:
        return sizeof(float);  // MPI_FLOAT
      case 0x212:              // MPI_C_FLOAT_COMPLEX
      case 0x213:
        return 2 * sizeof(float);  // MPI_CXX_FLOAT_COMPLEX
      case 0x214:
        return sizeof(double);  // MPI_DOUBLE
      case 0x216:               // MPI_C_DOUBLE_COMPLEX
      case 0x217:
        return 2 * sizeof(double);  // MPI_CXX_DOUBLE_COMPLEX
      case 0x220:
        return sizeof(long double);  // MPI_LONG_DOUBLE
      case 0x224:                    // MPI_C_LONG_DOUBLE_COMPLEX
      case 0x225:
        return 2 * sizeof(long double);  // MPI_CXX_LONG_DOUBLE_COMPLEX
      case 0x228:
        return sizeof(float) + sizeof(int);  // MPI_FLOAT_INT
      case 0x229:
        return sizeof(double) + sizeof(int);  // MPI_DOUBLE_INT
      case 0x22a:
        return sizeof(long) + sizeof(int);  // MPI_LONG_INT
      case 0x22b:
        return sizeof(int) + sizeof(int);  // MPI_2INT
      case 0x22c:
        return sizeof(short) + sizeof(int);  // MPI_SHORT_INT
      case 0x22d:
        return sizeof(long double) + sizeof(int);  // MPI_LONG_DOUBLE_INT
      case 0x238:                                  // MPI_C_BOOL
      case 0x239:
        return sizeof(bool);  // MPI_CXX_BOOL
      case 0x23c:
        return sizeof(wchar_t);  // MPI_WCHAR
      default:
        return -1;
    }
  }

  /// Nothing to look up.
  static bool bind(Lookup, void*) noexcept { return true; }

 private:
  template <typename Handle>
  static Handle handle(std::uintptr_t value) noexcept {
    return reinterpret_cast<Handle>(value);
  }
};

static_assert(Page<Standard>);

}  // namespace tare::mpi::abi
